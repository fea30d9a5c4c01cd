"""``gessvdd fit`` and ``gessvdd score``: what they write, and one sentence about everything that is wrong."""

from __future__ import annotations

import io
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from pyod.models.ecod import ECOD
from pyod.utils import persistence
from scipy.io import savemat

from pyod_gessvdd import GESSVDD, load
from pyod_gessvdd.cli import main
from pyod_gessvdd.detectors.loading import load_with_metadata

LINEAR = "gessvdd(kernel='linear')"


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def table(tmp_path):
    """Sixty rows of three features, a label and a time; the last ten rows are broken."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 3)), columns=["heat", "noise", "load"])
    frame["state"] = ["ok"] * 50 + ["broken"] * 10
    frame.loc[50:, "noise"] += 12.0
    frame["time"] = [f"12:{minute:02}" for minute in range(60)]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return frame


@pytest.fixture
def model(invoke, table):
    """A model of the rows that are ok, in model.gessvdd."""
    done = invoke(
        "fit", "rows.csv", "-o", "model.gessvdd", "-d", LINEAR, "--label", "state", "--normal", "ok", "--drop", "time"
    )
    assert done.exit_code == 0, done.stderr
    return load("model.gessvdd")


def said(result):
    """The one sentence on stderr of a call that failed as it should."""
    assert result.exit_code == 2, result
    assert result.stdout == ""
    *notes, sentence = result.stderr.splitlines()
    assert all(note.startswith("gessvdd: note: ") for note in notes)
    assert sentence.startswith("gessvdd: ")
    return sentence.removeprefix("gessvdd: ")


# fit ------------------------------------------------------------------------------------------------------------------


def test_fit_saves_the_detector_that_python_would_fit(model, table):
    X = table[["heat", "noise", "load"]][:50]
    expected = GESSVDD(kernel="linear", random_state=0).fit(X)
    # Before version 3 pandas reads the last digit of some numbers differently.
    assert_allclose(model.decision_scores_, expected.decision_scores_, rtol=1e-9)
    assert list(model.feature_names_in_) == ["heat", "noise", "load"]


def test_the_file_says_what_the_model_is(model):
    card = load_with_metadata("model.gessvdd")[1]
    assert card["detector"] == LINEAR
    assert card["feature_names"] == ["heat", "noise", "load"]
    assert card["left_out"] == ["state", "time"]
    assert card["n_rows"] == 50
    assert set(card["versions"]) >= {"pyod-gessvdd"}
    assert card["plugins"] == []


def test_fit_says_what_it_did(invoke, table):
    done = invoke("fit", "rows.csv", "-o", "m.pyod", "-d", LINEAR, "--label", "state", "--drop", "time")
    assert done.stdout.startswith("GESSVDD(kernel='linear') fitted on 60 rows and 3 features; threshold ")
    n_outliers = load("m.pyod").labels_.sum()
    assert done.stdout.endswith(f", {n_outliers} of the rows above it; saved as m.pyod\n")


def test_fit_says_which_columns_it_uses_and_leaves_the_label_out(invoke, table):
    table.drop(columns="time").rename(columns={"state": "label"}).to_csv("indexed.csv")
    done = invoke("fit", "indexed.csv", "-o", "m.pyod", "-d", LINEAR)
    assert done.stderr == (
        "gessvdd: note: indexed.csv: 3 columns used, 'label' is the label, 'Unnamed: 0' looks like an index and is "
        "left out: --keep to use it; rows of every label are trained on: --normal to choose one\n"
    )
    assert list(load("m.pyod").feature_names_in_) == ["heat", "noise", "load"]
    kept = invoke("fit", "indexed.csv", "-o", "m.pyod", "-d", LINEAR, "--keep", "Unnamed: 0", "--force")
    assert "4 columns used, 'label' is the label;" in kept.stderr


def test_fit_and_score_with_all_options_for_ordinary_files(invoke, table):
    text = table.assign(noise=[None, *table["noise"][1:]]).to_csv(index=False, sep="|", decimal=",", header=False)
    Path("odd.csv").write_text(text)
    reading = ("--sep", "|", "--decimal", ",", "--no-header")
    arguments = ("--label", "x3", "--normal", "ok", "--drop", "x4", "--missing", "median", "--encode", "x0")
    done = invoke("fit", "odd.csv", "-o", "m.pyod", "-d", "ecod", *reading, *arguments)
    assert said(done) == "odd.csv: the column 'x0' holds numbers with decimals, which are not categories"
    done = invoke("fit", "odd.csv", "-o", "m.pyod", "-d", "ecod", *reading, *arguments[:-2])
    assert done.exit_code == 0, done.stderr
    assert invoke("score", "m.pyod", "odd.csv", "-o", "s.csv", "--trusted", *reading).exit_code == 0
    assert pd.read_csv("s.csv")["score"].notna().all()


def test_the_seed_decides_what_is_random(invoke, table):
    arguments = ("fit", "rows.csv", "--label", "state", "--drop", "time", "-d", "iforest(n_estimators=5)")
    scores = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert invoke(*arguments, "-o", name, "--seed", seed).exit_code == 0
        scores.append(persistence.load(name, trusted=True).decision_scores_)
    assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.npz", "t.mat"])
def test_every_format_is_read(invoke, table, tmp_path, name):
    X, y = table[["heat", "noise", "load"]], table["state"] == "broken"
    if name.endswith((".npz", ".mat")):
        arrays = {"X": X.to_numpy(), "y": y.to_numpy(dtype=int)}
        np.savez(name, **arrays) if name == "t.npz" else savemat(name, arrays)
        names, label = ["x0", "x1", "x2"], "y"
    else:
        frame = X.assign(y=y.astype(int))
        if name == "t.parquet":
            frame.to_parquet(name)
        else:
            frame.to_csv(name, index=False, sep="\t" if "tsv" in name else ",")
        names, label = list(X.columns), "y"
    done = invoke("fit", name, "-o", "m.pyod", "-d", LINEAR, "--label", label, "--normal", 0)
    assert done.exit_code == 0, done.stderr
    loaded = load("m.pyod")
    assert list(loaded.feature_names_in_) == names
    assert len(loaded.decision_scores_) == 50
    assert invoke("score", "m.pyod", name, "-o", "s.csv").exit_code == 0
    scored = pd.read_csv("s.csv")
    assert_allclose(scored["score"], loaded.decision_function(X.set_axis(names, axis=1)), rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.csv"], "there is no file none.csv"),
        (["rows.xls"], "rows.xls is not a file that can be read; its name must end in "),
        (
            ["rows.csv"],
            "rows.csv: the column 'time' holds dates or times such as '12:00': leave it out with --drop time, or "
            "replace it by numbers such as the hour or the days since a start; the column 'state' holds text such as "
            "'ok': take it as categories with --encode state, or leave it out with --drop state",
        ),
        (["rows.csv", "--label", "stat"], "rows.csv has no column 'stat'; did you mean 'state'?"),
        (["rows.csv", "--drop", "x", "--drop", "y"], "rows.csv has no column 'x', 'y'; its columns are 'heat', "),
        (["rows.csv", "--normal", "ok"], "rows.csv has no label column 'label' or 'y'; name one of 'heat', 'noise', "),
        (
            ["rows.csv", "--label", "state", "--normal", "fine"],
            "rows.csv: no row has the label 'fine' to be normal; there are broken, ok",
        ),
        (["rows.csv", "-d", "gessvd"], "unknown detector 'gessvd'; did you mean "),
        (["rows.csv", "-d", "knn,lof"], "--detector 'knn,lof' stands for 2 detectors; name one"),
        (
            ["gaps.csv", "--label", "b", "--normal", "2"],
            "gaps.csv: the label column 'b' has 1 missing value; fill them, or leave such rows out with --missing drop",
        ),
        (["gaps.csv"], "gaps.csv: 2 values missing or infinite in 'b', the first in column 'b' of data row 2; leave "),
        (["twice.parquet"], "twice.parquet cannot be read: "),
        (["empty.csv"], "empty.csv has the columns 'a', 'b' but no rows"),
        (["equal.csv", "-d", "SVDD"], "SVDD cannot be fitted on equal.csv: all 3 rows of X are equal: there is"),
        (["only.csv", "--label", "a"], "only.csv has no column left to use: 0 columns used, 'a' is the label"),
        (["no.npz"], "no.npz has no matrix 'X'; it has Z (3, 3)"),
        (["rows.csv", "-o", "taken"], "taken already exists; choose another name or replace it with --force"),
        (["rows.csv", "-o", "folder", "--force"], "folder is a folder; name a file"),
        (["rows.csv", "-o", "nowhere/m"], "there is no folder nowhere to write m to"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_fit_says_in_one_sentence_what_is_wrong(invoke, table, tmp_path, arguments, sentence):
    (tmp_path / "rows.xls").touch()
    (tmp_path / "gaps.csv").write_text("a,b\n1,2\n2,\n3,inf\n")
    (tmp_path / "twice.parquet").write_text("no parquet")
    (tmp_path / "empty.csv").write_text("a,b\n")
    (tmp_path / "equal.csv").write_text("a,b\n1,2\n1,2\n1,2\n")
    (tmp_path / "only.csv").write_text("a\n1\n2\n")
    (tmp_path / "taken").write_text("precious")
    (tmp_path / "folder").mkdir()
    np.savez("no.npz", Z=np.eye(3))
    before = sorted(path.name for path in tmp_path.iterdir())
    out = [] if "-o" in arguments else ["-o", "m.pyod"]
    assert said(invoke("fit", *arguments, *out)).startswith(sentence)
    assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing is written"
    assert (tmp_path / "taken").read_text() == "precious"


def test_columns_of_the_same_name_are_refused(invoke, tmp_path):
    # A CSV reader renames them; a file of arrays can hold a vector that is called like a column of X.
    np.savez("t.npz", X=np.eye(3), x1=np.zeros(3), x3=np.zeros(3))
    done = invoke("fit", "t.npz", "-o", "m.pyod", "-d", LINEAR)
    assert said(done) == "t.npz has more than one column called 'x1'; rename them"


# score ----------------------------------------------------------------------------------------------------------------


def test_score_keeps_the_columns_and_adds_the_models_answers(invoke, model, table):
    done = invoke("score", "model.gessvdd", "rows.csv", "-o", "scored.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    scored = pd.read_csv("scored.csv")
    pd.testing.assert_frame_equal(scored[list(table.columns)], table, check_dtype=False)
    X = table[["heat", "noise", "load"]]
    assert_allclose(scored["score"], model.decision_function(X), rtol=1e-12)
    assert_array_equal(scored["label"], model.predict(X))
    assert_allclose(scored["probability"], model.predict_proba(X)[:, 1], atol=1e-12)
    assert done.stdout == f"60 rows scored, {model.predict(X).sum()} of them outliers; written to scored.csv\n"


def test_score_names_the_features_that_contribute_most(invoke, model, table):
    invoke("score", "model.gessvdd", "rows.csv", "-o", "scored.csv", "--top", 2)
    scored = pd.read_csv("scored.csv")
    contributions = np.sort(model.explain(table[["heat", "noise", "load"]]), axis=1)[:, ::-1]
    assert_allclose(scored[["contribution_1", "contribution_2"]], contributions[:, :2], rtol=1e-9)
    assert (scored["feature_1"][50:] == "noise").all()
    assert "feature_3" not in scored


def test_only_outliers_are_explained_if_that_is_asked(invoke, model):
    invoke("score", "model.gessvdd", "rows.csv", "-o", "scored.csv", "--explain", "outliers")
    scored = pd.read_csv("scored.csv")
    assert_array_equal(scored["feature_1"].notna(), scored["label"] == 1)


def test_without_a_number_of_features_nothing_is_explained(invoke, model):
    invoke("score", "model.gessvdd", "rows.csv", "-o", "scored.csv", "--top", 0)
    assert pd.read_csv("scored.csv").columns[-1] == "probability"


def test_features_are_found_by_name_in_any_order(invoke, model, table):
    table[["load", "time", "noise", "heat"]].to_csv("turned.csv", index=False)
    assert invoke("score", "model.gessvdd", "turned.csv", "-o", "scored.csv").exit_code == 0
    expected = model.decision_function(table[["heat", "noise", "load"]])
    assert_allclose(pd.read_csv("scored.csv")["score"], expected, rtol=1e-12)


def test_other_columns_are_kept_and_named(invoke, model, table):
    table.assign(room="a", floor=1).to_csv("more.csv", index=False)
    done = invoke("score", "model.gessvdd", "more.csv", "-o", "scored.csv")
    assert done.exit_code == 0
    sentence = "more.csv has columns that are no features of the model, kept as they are: 'room', 'floor'"
    assert done.stderr == f"gessvdd: note: {sentence}\n"
    assert "room" in pd.read_csv("scored.csv")


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz", "s.tsv", "s.parquet"])
def test_every_format_is_written(invoke, model, name):
    assert invoke("score", "model.gessvdd", "rows.csv", "-o", name).exit_code == 0
    scored = pd.read_parquet(name) if name == "s.parquet" else pd.read_csv(name, sep="\t" if name == "s.tsv" else ",")
    assert len(scored) == 60
    assert "probability" in scored


def test_a_detector_of_pyod_is_fitted_and_scores_too(invoke, table):
    arguments = ("rows.csv", "-o", "m.pyod", "-d", "ecod", "--label", "state", "--normal", "ok", "--drop", "time")
    assert invoke("fit", *arguments).exit_code == 0
    assert invoke("score", "m.pyod", "rows.csv", "-o", "s.csv", "--trusted").exit_code == 0
    X = table[["heat", "noise", "load"]].to_numpy()
    scored = pd.read_csv("s.csv")
    assert_allclose(scored["score"], ECOD().fit(X[:50]).decision_function(X), rtol=1e-9)
    assert scored.columns[-1] == "probability", "it cannot explain itself"


def test_a_model_that_python_saved_is_known_by_the_names_it_was_fitted_on(invoke, table):
    X = table[["heat", "noise", "load"]]
    detector = GESSVDD(kernel="linear", random_state=0).fit(X)
    persistence.save(detector, "m.pyod")
    assert invoke("score", "m.pyod", "rows.csv", "-o", "s.csv", "--trusted").exit_code == 0
    assert_allclose(pd.read_csv("s.csv")["score"], detector.decision_function(X), rtol=1e-12)


def test_force_replaces_what_is_there(invoke, model):
    for _ in range(2):
        done = invoke("score", "model.gessvdd", "rows.csv", "-o", "scored.csv", "--force")
        assert done.exit_code == 0
    assert invoke(
        "fit", "rows.csv", "-o", "model.gessvdd", "-d", LINEAR, "--force", "--label", "state", "--drop", "time"
    )


def test_other_versions_are_noted(invoke, model):
    persistence.save(model, "old.pyod", metadata=load_with_metadata("model.gessvdd")[1])
    envelope = joblib.load("old.pyod")
    joblib.dump(envelope | {"numpy_version": "0.1"}, "old.pyod")
    done = invoke("score", "old.pyod", "rows.csv", "-o", "scored.csv", "--trusted")
    assert done.exit_code == 0
    assert done.stderr.startswith("gessvdd: note: ")
    assert "numpy" in done.stderr
    assert done.stderr.count("\n") == 1


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __reduce__(self):
        return open, ("mark", "w")


def test_an_untrusted_file_is_refused_before_it_runs_anything(invoke, table, tmp_path):
    joblib.dump(Bomb(), "bomb.pyod")
    sentence = (
        "bomb.pyod is a pickle, which can run any code when it is loaded; if you trust its source, pass --trusted"
    )
    assert said(invoke("score", "bomb.pyod", "rows.csv", "-o", "s.csv")) == sentence
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.pyod", "rows.csv"], "there is no file none.pyod"),
        (["rows.csv", "rows.csv"], "rows.csv cannot be loaded as a model: "),
        (["dict.pyod", "rows.csv"], "dict.pyod holds a list, which is not a detector"),
        (["nameless.pyod", "rows.csv"], "nameless.pyod does not list the columns of its features; save the model"),
        (["model.gessvdd", "none.csv"], "there is no file none.csv"),
        (["model.gessvdd", "fewer.csv"], "fewer.csv lacks 2 of the 3 features: 'noise', 'load'"),
        (
            ["model.gessvdd", "text.csv"],
            "text.csv: the column 'noise' holds text such as 'loud', and numbers are expected",
        ),
        (
            ["model.gessvdd", "gaps.csv"],
            "gaps.csv: 1 value missing or infinite in 'noise', the first in column 'noise' of data row 1; leave such ",
        ),
        (
            ["model.gessvdd", "named.csv"],
            "named.csv has columns called 'label' already; choose other names for the new on",
        ),
        (
            ["model.gessvdd", "rows.csv", "-o", "s.xls"],
            "s.xls cannot be written; its name must be - or end in .csv, .csv",
        ),
        (
            ["model.gessvdd", "rows.csv", "-o", "rows.csv"],
            "rows.csv already exists; choose another name or replace it",
        ),
        (["model.gessvdd", "rows.csv", "-o", "no/s.csv"], "there is no folder no to write s.csv to"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("model")
def test_score_says_in_one_sentence_what_is_wrong(invoke, table, tmp_path, arguments, sentence):
    table[["heat"]].to_csv("fewer.csv", index=False)
    table.assign(noise="loud").to_csv("text.csv", index=False)
    table.assign(noise=[None, *table["noise"][1:]]).to_csv("gaps.csv", index=False)
    table.assign(label=0).to_csv("named.csv", index=False)
    joblib.dump([1], "dict.pyod")
    joblib.dump(ECOD().fit(table[["heat", "noise", "load"]].to_numpy()), "nameless.pyod")
    before = sorted(path.name for path in tmp_path.iterdir())
    out = [] if "-o" in arguments else ["-o", "s.csv"]
    assert said(invoke("score", *arguments, *out, "--trusted")).startswith(sentence)
    assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing is written"


def test_names_that_are_taken_are_noticed_before_the_rows_are_scored(invoke, model, table, monkeypatch):
    table.assign(label=0).to_csv("named.csv", index=False)
    monkeypatch.setattr(GESSVDD, "decision_function", lambda *_: pytest.fail("rows were scored"))
    assert said(invoke("score", "model.gessvdd", "named.csv", "-o", "s.csv", "--trusted")) == (
        "named.csv has columns called 'label' already; choose other names for the new ones, with --prefix gessvdd_ for "
        "example"
    )


def test_a_dash_is_the_standard_output(invoke, model, table):
    done = invoke("score", "model.gessvdd", "rows.csv", "-o", "-", "--trusted")
    assert done.exit_code == 0
    scored = pd.read_csv(io.StringIO(done.stdout))
    assert_allclose(scored["score"], model.decision_function(table[["heat", "noise", "load"]]), rtol=1e-12)
    n_outliers = int((scored["label"] == 1).sum())
    assert done.stderr == f"60 rows scored, {n_outliers} of them outliers\n"


def test_a_file_to_score_may_be_written_otherwise_than_the_one_to_fit(invoke, model, table):
    table.to_csv("new.csv", index=False, sep=";", decimal=",")
    done = invoke("score", "model.gessvdd", "new.csv", "-o", "s.csv", "--trusted")
    assert done.stderr.splitlines() == [
        "gessvdd: note: new.csv: its columns are separated by semicolons",
        "gessvdd: note: new.csv: its numbers have decimal commas",
    ]
    expected = model.decision_function(table[["heat", "noise", "load"]])
    assert_allclose(pd.read_csv("s.csv")["score"], expected, rtol=1e-12)


def test_rows_with_gaps_are_scored_as_the_user_says(invoke, model, table):
    table.assign(noise=[None, *table["noise"][1:]]).to_csv("gaps.csv", index=False)
    arguments = ("score", "model.gessvdd", "gaps.csv", "-o", "s.csv", "--trusted", "--force", "--missing")
    dropped = invoke(*arguments, "drop")
    assert "gaps.csv: 1 of 60 rows left out for missing or infinite values in 'noise'" in dropped.stderr
    assert dropped.stdout.startswith("59 rows scored, ")
    assert pd.read_csv("s.csv")["score"].isna().tolist() == [i == 0 for i in range(60)]
    assert invoke(*arguments, "median").stdout.startswith("60 rows scored, ")
    filled = table.assign(noise=[table["noise"][:50].median(), *table["noise"][1:]])[["heat", "noise", "load"]]
    assert_allclose(pd.read_csv("s.csv")["score"], model.decision_function(filled), rtol=1e-12)


def test_a_prefix_makes_room_for_the_new_columns(invoke, model, table):
    table.assign(label=0).to_csv("named.csv", index=False)
    arguments = ("score", "model.gessvdd", "named.csv", "-o", "s.csv", "--trusted", "--prefix", "gessvdd_")
    assert invoke(*arguments).exit_code == 0
    assert {"label", "gessvdd_label", "gessvdd_score", "gessvdd_feature_1"} <= set(pd.read_csv("s.csv").columns)


def test_a_file_that_cannot_be_written_leaves_nothing_behind(invoke, model, tmp_path, monkeypatch):
    def full(self, *arguments, **keywords):
        arguments[0].write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    done = invoke("score", "model.gessvdd", "rows.csv", "-o", "s.csv")
    assert said(done) == "s.csv cannot be written: No space left on device"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.gessvdd", "rows.csv"]
