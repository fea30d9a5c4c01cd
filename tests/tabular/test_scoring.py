"""A model remembers how its columns became numbers, and scores other files alike."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.components import registry as plugins
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.tabular import scoring
from pyod_gessvdd.tabular.loader import TableOptions
from pyod_gessvdd.tabular.models import load_model, save_model
from pyod_gessvdd.tabular.scoring import Scorer, fit_file

KERNELS = Path(__file__).parents[2] / "plugins" / "pyod-gessvdd-kernels"


@pytest.fixture
def orders(tmp_path):
    """A file of letters and bulk: the weight depends on the goods."""
    random = np.random.default_rng(0)
    goods = random.choice(["letter", "parcel", "bulk"], 60)
    weight = np.array([{"letter": 0.0, "parcel": 1.0, "bulk": 4.0}[each] for each in goods])
    frame = pd.DataFrame(
        {"goods": goods, "weight": weight + random.normal(0, 0.1, 60), "price": random.normal(size=60)}
    )
    frame.to_csv(tmp_path / "orders.csv", index=False)
    return tmp_path / "orders.csv"


@pytest.fixture
def kernels_plugin(tmp_path, monkeypatch):
    """The package with Gower's kernel, as if it were installed."""
    info = tmp_path / "site" / "pyod_gessvdd_kernels-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pyod-gessvdd-kernels\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[pyod_gessvdd]\nkernels = pyod_gessvdd_kernels.plugin\n")
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE, raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.syspath_prepend(KERNELS)
    plugins.registry.cache_clear()
    yield
    plugins.registry.cache_clear()
    for name in [name for name in sys.modules if name.startswith("pyod_gessvdd_kernels")]:
        del sys.modules[name]


def fitted(path, spec, **options):
    """The model as it comes back from a file, with its card."""
    (detector,) = resolve_detectors(spec)
    model, card = fit_file(path, detector, TableOptions.of(**options))
    save_model(model, card, path.parent / "m.pyod")
    loaded, found, _ = load_model(path.parent / "m.pyod", trusted=True)
    assert found == card
    return loaded, card


def scored(model, card, frame, **options):
    prepared = card.preparation.apply(frame, Path("new.csv"), options.pop("missing", None))
    steps = []
    table = Scorer(model, card, **options).score(frame, prepared.X, prepared.complete, steps.append)
    return table, steps


def test_a_model_with_categories_scores_other_files_alike(orders):
    model, card = fitted(orders, "gessvdd(kernel='linear')", encode=["goods"], missing="median")
    assert card.categories == {"goods": ["bulk", "letter", "parcel"]}
    new = pd.DataFrame({"price": [0.0, 0.0], "weight": [4.0, np.nan], "goods": ["bulk", "rail"]})
    table, _ = scored(model, card, new)
    X = pd.DataFrame(
        [[1.0, 0.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, card.fill["weight"], 0.0]], columns=model.feature_names_in_
    )
    assert_allclose(table["score"], model.decision_function(X))
    assert table["goods"].tolist() == ["bulk", "rail"]


def test_the_contributions_of_a_columns_categories_are_the_columns(orders):
    model, card = fitted(orders, "gessvdd(kernel='linear')", encode=["goods"])
    frame = pd.read_csv(orders)
    table, _ = scored(model, card, frame, top=3)
    assert set(table["feature_1"]) <= {"goods", "weight", "price"}
    parts = model.explain(card.preparation.apply(frame, orders).X)
    assert_allclose(table[[f"contribution_{i}" for i in (1, 2, 3)]].sum(axis=1), parts.sum(axis=1))


def test_rows_that_are_dropped_stay_without_answers(orders):
    model, card = fitted(orders, "gessvdd(kernel='linear')", drop=["goods"])
    frame = pd.read_csv(orders).assign(weight=lambda table: table["weight"].where(table.index != 3))
    table, _ = scored(model, card, frame.set_axis(["row"] * 60), missing="drop", top=1)
    assert table["score"].isna().tolist() == [i == 3 for i in range(60)]
    assert table["label"].isna().sum() == table["feature_1"].isna().sum() == 1
    assert str(table["label"].dtype) == "Int64"


@pytest.mark.parametrize(("spec", "n_steps"), [("gessvdd(kernel='linear')", 6), ("ecod", 1)])
def test_our_detectors_score_in_blocks_and_others_all_rows_at_once(orders, monkeypatch, spec, n_steps):
    monkeypatch.setattr(scoring, "BLOCK_ROWS", 11)
    model, card = fitted(orders, spec, encode="goods")
    frame = pd.read_csv(orders)
    table, steps = scored(model, card, frame)
    X = card.preparation.apply(frame, orders).X
    assert_allclose(table["score"], model.decision_function(X if n_steps > 1 else X.to_numpy()), rtol=1e-9)
    if n_steps > 1:
        assert_allclose(table.filter(like="contribution_").sum(axis=1), model.explain(X).sum(axis=1), rtol=1e-9)
    assert len(steps) == n_steps
    assert steps[-1] == 60


def test_the_names_of_the_new_columns_are_known_before(orders):
    model, card = fitted(orders, "gessvdd(kernel='linear')", drop="goods")
    table, _ = scored(model, card, pd.read_csv(orders), top=9, prefix="g_")
    names = Scorer(model, card, top=9, prefix="g_").names
    assert table.columns.tolist()[3:] == names
    assert names == [f"g_{name}" for name in ("score", "label", "probability", "feature_1", "contribution_1")] + [
        "g_feature_2",
        "g_contribution_2",
    ]


@pytest.mark.usefixtures("kernels_plugin")
def test_a_kernel_that_compares_categories_is_told_where_they_are(orders):
    model, card = fitted(orders, "gessvdd(kernel='gower')", encode=["goods"])
    assert card.codes
    assert model.kernel_.is_categorical_.tolist() == [True, False, False]
    assert card.plugins[0]["distribution"] == "pyod-gessvdd-kernels"
    X = card.preparation.apply(pd.read_csv(orders), orders).X
    from pyod_gessvdd_kernels import Gower

    expected = GESSVDD(kernel=Gower(categorical=[0]), random_state=0).fit(X)
    assert_allclose(model.decision_scores_, expected.decision_scores_)
    wrong = pd.DataFrame({"goods": ["letter", "bulk"], "weight": [4.0, 4.0], "price": [0.0, 0.0]})
    table, _ = scored(model, card, wrong)
    assert table["score"][0] > table["score"][1], "a letter is not as heavy as bulk"


@pytest.mark.usefixtures("kernels_plugin")
def test_a_kernel_that_knows_its_categories_is_left_alone(orders):
    model, card = fitted(orders, "gessvdd(kernel='gower(categorical=[1])')", encode=["goods"])
    assert not card.codes
    assert model.kernel_.is_categorical_.tolist() == [False, True, False, False, False]
