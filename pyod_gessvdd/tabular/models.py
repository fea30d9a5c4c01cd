"""Models in files, with the names of the features and what the model needs to be loaded again.

Ours are arrays and JSON; other detectors of PyOD are saved in its own format, a pickle.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pyod_gessvdd.detectors.loading import load_with_metadata
from pyod_gessvdd.detectors.pyod_contract import PyODContract
from pyod_gessvdd.errors import MissingPluginError, ModelFileError
from pyod_gessvdd.saving.archive import is_archive
from pyod_gessvdd.tabular.preparation import Preparation
from pyod_gessvdd.tabular.writing import write_whole


@dataclass(frozen=True)
class ModelCard:
    """What a model file holds in addition to the model; PyOD adds its own and its dependencies' versions.

    Attributes
    ----------
    detector : str
        What the user asked for, for example ``"gessvdd(nu=0.2)"``.
    feature_names : list of str
        The columns of a table that are features.
    left_out : list of str
        Columns that were there at fit and are not features: the label, what was dropped and what the rule left out.
    categories, fill, missing, codes
        How columns become numbers and what happens to missing values, as
        :class:`~pyod_gessvdd.tabular.preparation.Preparation` has them.
    n_rows : int
        The number of training rows.
    versions : dict
        The version of this package and of the detector's.
    plugins : list of dict
        The plugins whose components the model uses: kind, name, distribution and version.
    """

    detector: str
    feature_names: list[str]
    left_out: list[str] = field(default_factory=list)
    categories: dict[str, list[str]] = field(default_factory=dict)
    fill: dict[str, Any] = field(default_factory=dict)
    missing: str = "error"
    codes: bool = False
    n_rows: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    plugins: list[dict[str, Any]] = field(default_factory=list)

    @property
    def preparation(self) -> Preparation:
        """What a table to score goes through."""
        return Preparation(self.feature_names, self.categories, self.fill, self.missing, self.codes)


def save_model(model: Any, card: ModelCard, path: Path) -> None:
    """Write a fitted model with its card, all of it or nothing: ours without a pickle, others by PyOD's ``save``."""
    from pyod.utils.persistence import save

    if isinstance(model, PyODContract):
        model.save(path, metadata=asdict(card))
        return
    write_whole(path, lambda unfinished: save(model, str(unfinished), metadata=asdict(card)))


def load_model(path: Path, *, trusted: bool) -> tuple[Any, ModelCard, list[str]]:
    """The model of a file, its card, and what PyOD warns of, such as other versions.

    Parameters
    ----------
    path : Path
        The file.
    trusted : bool
        Whether a pickle may be loaded, which runs whatever its author wrote. A model file of ours needs no trust.
    """
    from pyod.utils.persistence import load

    if not path.is_file():
        raise ModelFileError(f"there is no file {path}")
    if is_archive(path):
        detector, metadata = load_with_metadata(path)
        return detector, _card(path, detector, metadata), []
    if not trusted:
        raise ModelFileError(
            f"{path} is a pickle, which can run any code when it is loaded; if you trust its source, pass --trusted"
        )
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model, envelope = load(str(path), trusted=True, return_metadata=True)
    except MissingPluginError:
        raise
    except Exception as error:  # unpickling can raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelFileError(f"{path} cannot be loaded as a model: {type(error).__name__}: {reason}") from error
    if not hasattr(model, "decision_function"):
        raise ModelFileError(f"{path} holds a {type(model).__name__}, which is not a detector")
    notes = [" ".join(str(warning.message).split()) for warning in caught]
    return model, _card(path, model, (envelope or {}).get("metadata") or {}), notes


def _card(path: Path, model: Any, metadata: dict[str, Any]) -> ModelCard:
    known = {name: value for name, value in metadata.items() if name in ModelCard.__dataclass_fields__}
    if "feature_names" in known:
        return ModelCard(**{"detector": type(model).__name__, **known})
    if hasattr(model, "feature_names_in_"):
        return ModelCard(type(model).__name__, [str(name) for name in model.feature_names_in_])
    raise ModelFileError(f"{path} does not list the columns of its features; save the model with gessvdd fit")


def versions_of(model: Any) -> dict[str, str]:
    """The versions of this package and of the one that brings the model's class."""
    found = {}
    for name in ("pyod-gessvdd", type(model).__module__.partition(".")[0]):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # a module that no distribution brings
    return found
