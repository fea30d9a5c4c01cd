"""Models in files: the card beside the model, and plugins that it names."""

import sys
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest
from pyod.utils import persistence

from pyod_gessvdd.components import registry as plugins
from pyod_gessvdd.errors import MissingPluginError
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.tabular.loader import TableOptions
from pyod_gessvdd.tabular.models import load_model, save_model
from pyod_gessvdd.tabular.scoring import fit_file

RING = """
    import numpy as np
    from pyod_gessvdd import Laplacian, hookimpl

    class Ring(Laplacian):
        name = "ring"

        def build(self, Phi, random_state):
            step = np.roll(np.eye(len(Phi)), 1, axis=0)
            return 2 * np.eye(len(Phi)) - step - step.T

    @hookimpl
    def register_laplacians(register):
        register(Ring)
"""


@pytest.fixture
def ring_plugin(tmp_path, monkeypatch):
    """A distribution with a graph, installed until the returned function is called."""
    site = tmp_path / "site"
    info = site / "ring_graph-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ring-graph\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[pyod_gessvdd]\nring = ring_graph\n")
    (site / "ring_graph.py").write_text(dedent(RING))
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE, raising=False)
    monkeypatch.syspath_prepend(site)
    plugins.registry.cache_clear()

    def remove():
        if str(site) in sys.path:
            sys.path.remove(str(site))
        sys.modules.pop("ring_graph", None)
        plugins.registry.cache_clear()

    yield remove
    remove()


@pytest.fixture
def rows(tmp_path):
    """A file of forty rows."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def test_the_card_names_the_plugins_and_loading_without_them_says_so(ring_plugin, rows, tmp_path):
    (detector,) = resolve_detectors("gessvdd(kernel='linear', laplacian='ring')")
    model, card = fit_file(rows, detector, TableOptions())
    save_model(model, card, tmp_path / "m.pyod")
    loaded, found, notes = load_model(tmp_path / "m.pyod", trusted=True)
    assert found == card
    assert found.plugins == [{"kind": "laplacian", "name": "ring", "distribution": "ring-graph", "version": "1.2"}]
    assert notes == []
    assert (loaded.decision_scores_ == model.decision_scores_).all()
    ring_plugin()
    with pytest.raises(MissingPluginError, match=r"laplacian 'ring' of ring-graph 1\.2, which is not installed here"):
        load_model(tmp_path / "m.pyod", trusted=True)


def test_the_card_is_pyods_metadata(rows, tmp_path):
    (detector,) = resolve_detectors("iforest(n_estimators=5)")
    model, card = fit_file(rows, detector, TableOptions(drop=("b",)))
    save_model(model, card, tmp_path / "m.pyod")
    _, envelope = persistence.load(str(tmp_path / "m.pyod"), trusted=True, return_metadata=True)
    assert envelope["metadata"]["feature_names"] == ["a", "c"]
    assert envelope["metadata"]["versions"].keys() == {"pyod-gessvdd", "pyod"}
