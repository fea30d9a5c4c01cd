"""From a model file to a detector: which classes may be in it."""

from __future__ import annotations

import os
from typing import Any

from pyod_gessvdd.boundaries.half_space import HalfSpace
from pyod_gessvdd.boundaries.slab import Slab
from pyod_gessvdd.boundaries.soft_sphere import SoftSphere
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.components.persistence import check_plugins
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.family import ESSVDD, ESVDD, GESVDD, GESVM, L2SVDD, OCKSR, SSVDD, SVDD
from pyod_gessvdd.detectors.gessvdd import GESSVDD
from pyod_gessvdd.detectors.multimodal import MSSVDD
from pyod_gessvdd.detectors.multimodal.detector import JointDescription, Modality
from pyod_gessvdd.detectors.pyod_contract import PyODContract
from pyod_gessvdd.errors import MissingPluginError, ModelFileError
from pyod_gessvdd.explain.explainer import Origins
from pyod_gessvdd.feature_map import FeatureMap
from pyod_gessvdd.preprocessing import NormalScores, Scaling
from pyod_gessvdd.saving.archive import read_archive
from pyod_gessvdd.saving.decoding import Decoder, check_names
from pyod_gessvdd.subspace import Subspace, Whitening
from pyod_gessvdd.whole_space import WholeSpace
from pyod_gessvdd.whole_space.known_outliers import KnownOutliers

#: The detectors that a file may hold, and the value objects that they consist of.
DETECTORS: dict[str, type[PyODContract]] = {
    cls.__name__: cls for cls in (GESSVDD, SVDD, GESVDD, ESVDD, GESVM, SSVDD, ESSVDD, MSSVDD, L2SVDD, OCKSR)
}
RECORDS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        Description,
        FeatureMap,
        HalfSpace,
        JointDescription,
        KnownOutliers,
        Modality,
        NormalScores,
        Origins,
        Scaling,
        Slab,
        SoftSphere,
        Sphere,
        Subspace,
        Whitening,
        WholeSpace,
    )
}


def load(path: str | os.PathLike[str]) -> Any:
    """The detector that ``detector.save(path)`` wrote.

    Nothing in the file is executed, and a damaged file is refused: a file from a stranger can produce wrong scores, as
    any model can, but nothing worse. If the model needs a plugin that is not installed, the error names it.

    Parameters
    ----------
    path : path-like
        The file.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import pyod_gessvdd
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.gessvdd")
    ...     pyod_gessvdd.GESSVDD(random_state=0).fit(X).save(path)
    ...     detector = pyod_gessvdd.load(path)
    >>> detector.predict([[0, 0, 0], [9, 9, 9]]).tolist()
    [0, 1]
    """
    return load_with_metadata(path)[0]


def load_with_metadata(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The detector, and the metadata that was saved with it.

    Parameters
    ----------
    path : path-like
        The file.
    """
    document, arrays = read_archive(path)
    try:
        check_plugins(document["plugins"])
        cls = DETECTORS[document["detector"]]
        decode = Decoder(arrays, RECORDS).decode
        attributes = {name: decode(item) for name, item in document["attributes"].items()}
        check_names(cls, attributes)
        detector = cls()  # a file of an older version lacks newer parameters
        detector.__dict__.update(attributes)
        metadata = document.get("metadata")
        return detector, metadata if isinstance(metadata, dict) else {}
    except MissingPluginError:
        raise
    # A JSON document that is not a model can lack anything, or have anything in the wrong place.
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, RuntimeError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelFileError(f"{path} does not hold a model that can be read ({reason})") from error
