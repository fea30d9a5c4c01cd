"""skops: it names our types as untrusted, all of them from this package, and with their trust gives the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD, SSVDD, SVDD
from tests.compatibility.packages import real


@pytest.mark.parametrize(
    "detector",
    [GESSVDD(random_state=0), GESSVDD(kernel="linear"), SVDD(), SSVDD()],
    ids=["whole space", "linear", "SVDD", "SSVDD"],
)
def test_skops_names_our_types_and_loads_the_detector_once_they_are_trusted(detector, X):
    skops = real("skops.io")
    held = skops.dumps(detector.fit(X))
    untrusted = skops.get_untrusted_types(data=held)
    assert untrusted
    assert all(name.startswith("pyod_gessvdd.") for name in untrusted), untrusted
    with pytest.raises(TypeError, match="Untrusted types found in the file"):
        skops.loads(held)
    loaded = skops.loads(held, trusted=untrusted)
    np.testing.assert_array_equal(loaded.decision_function(X), detector.decision_function(X))
