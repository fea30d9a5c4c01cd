"""``gessvdd fit`` and ``gessvdd score`` of Parquet that is walked: the same model and scores as in memory."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pyod_gessvdd import GESSVDD, load, sources
from pyod_gessvdd.cli import main
from pyod_gessvdd.tabular import streaming

pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")

N = 31_000
SPEC = "gessvdd(kernel='linear')"


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    monkeypatch.setattr(streaming, "SMALL_ROWS", 1000)
    monkeypatch.setattr(sources, "SMALL_ROWS", 1000)


@pytest.fixture(scope="module")
def frame():
    X = np.random.default_rng(0).exponential(size=(N, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(id=np.arange(N), label=0)


@pytest.fixture
def folder(tmp_path, frame):
    (tmp_path / "rows").mkdir()
    for number, start in enumerate(range(0, N, 9000)):
        frame[start : start + 9000].to_parquet(tmp_path / "rows" / f"{number}.parquet", index=False)
    return tmp_path / "rows"


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def model(folder, tmp_path):
    result = run("fit", folder, "-o", tmp_path / "model", "-d", SPEC)
    assert result.exit_code == 0, result.output
    assert f"fitted on {N:,} rows and 3 features" in result.output
    return tmp_path / "model"


def test_the_model_is_that_of_the_rows_in_memory(model, frame):
    expected = GESSVDD(kernel="linear", random_state=0).fit(frame[["a", "b", "c"]])
    rows = frame[["a", "b", "c"]][:500]
    np.testing.assert_allclose(load(model).decision_function(rows), expected.decision_function(rows), rtol=1e-8)
    np.testing.assert_array_equal(load(model).predict(rows), expected.predict(rows))


def test_the_scored_file_has_the_rows_and_the_models_answers(model, folder, frame, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "SCORED_ROWS", 4000)
    result = run("score", model, folder, "-o", tmp_path / "scored.parquet", "--prefix", "g_", "--explain", "outliers")
    assert result.exit_code == 0, result.output
    scored = pd.read_parquet(tmp_path / "scored.parquet")
    pd.testing.assert_frame_equal(scored[frame.columns], frame)
    detector = load(model)
    np.testing.assert_allclose(scored["g_score"], detector.decision_function(frame[["a", "b", "c"]]), rtol=1e-12)
    assert scored["g_label"].sum() == detector.predict(frame[["a", "b", "c"]]).sum()
    assert scored["g_feature_1"].notna().sum() == scored["g_label"].sum()
    assert f"{N:,} rows scored, {scored['g_label'].sum():,} of them outliers; written to" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--encode", "a"], "--encode needs the whole table in memory"),
        (["--normal", "0"], "--normal needs the whole table in memory"),
        (["--missing", "median"], "--missing median needs the whole table in memory"),
        (["-d", "iforest"], "iforest needs all rows in memory; detectors of this package can read"),
        (["-d", "gesvm"], "cannot be fitted on .*a half-space needs all rows in memory"),
        (["--scheduler", "tcp://127.0.0.1:9"], "there is no Dask scheduler at tcp://127.0.0.1:9"),
    ],
)
def test_what_cannot_be_walked_is_said_in_one_sentence(folder, tmp_path, arguments, sentence):
    result = run("fit", folder, "-o", tmp_path / "model", *arguments)
    assert result.exit_code != 0
    assert re.search(sentence, " ".join(result.output.split()))
    assert not (tmp_path / "model").exists()


def test_a_scheduler_is_for_large_files(tmp_path, frame):
    frame[:100].to_csv(tmp_path / "rows.csv", index=False)
    result = run("fit", tmp_path / "rows.csv", "-o", tmp_path / "model", "--scheduler", "tcp://127.0.0.1:9")
    assert result.exit_code == 2
    assert "--scheduler is for folders of Parquet and files of many rows" in " ".join(result.output.split())


def test_a_scheduler_scores_large_parquet_into_parquet(model, folder, tmp_path):
    arguments = ("score", model, folder, "--prefix", "g_", "--scheduler", "tcp://127.0.0.1:9", "-o")
    result = run(*arguments, tmp_path / "scored.csv")
    assert result.exit_code == 2
    assert "--scheduler is for large Parquet that is scored into Parquet" in " ".join(result.output.split())
    result = run(*arguments, tmp_path / "scored.parquet")
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in " ".join(result.output.split())
    assert not (tmp_path / "scored.parquet").exists()


# Dask's reader uses what the newest pandas is about to drop.
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
def test_the_workers_of_a_scheduler_read_and_score_the_files(folder, frame, tmp_path):
    distributed = pytest.importorskip("distributed", reason="clusters are the extra 'dask'")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        result = run("fit", folder, "-o", tmp_path / "model", "-d", SPEC, "--scheduler", address)
        assert result.exit_code == 0, result.output
        way = ("score", tmp_path / "model", folder, "--top", "1", "--prefix", "g_", "-o")
        scored = run(*way, tmp_path / "there.parquet", "--scheduler", address)
        assert scored.exit_code == 0, scored.output
    assert run(*way, tmp_path / "here.parquet").exit_code == 0
    assert scored.output.count(f"{N:,} rows scored") == 1
    there, here = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("there", "here"))
    pd.testing.assert_frame_equal(there, here)
    assert there["id"].tolist() == list(range(N))
    expected = GESSVDD(kernel="linear", random_state=0).fit(frame[["a", "b", "c"]])
    assert f"{expected.labels_.sum():,} of the rows above it" in result.output
    rows = frame[["a", "b", "c"]][:500]
    np.testing.assert_allclose(load(tmp_path / "model").decision_function(rows), expected.decision_function(rows))
