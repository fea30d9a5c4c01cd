"""``gessvdd bench paper``, in this process and in one that is killed."""

from __future__ import annotations

import csv
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.model_selection import StratifiedKFold, train_test_split

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.cli import main
from pyod_gessvdd.experiments.data.paper import DATASETS, load
from pyod_gessvdd.experiments.report.paper.published import COLUMNS, PAPER, Block, Published
from pyod_gessvdd.model_selection import gmean_score
from tests.experiments.paper_data import write_heart


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return write_heart(tmp_path_factory.mktemp("data"), n=30)


@pytest.fixture
def bench(data_dir, tmp_path):
    """Runs the command with a quick grid on the small data; its run folder is ``run``."""

    def bench(*arguments, env=None):
        given = ["bench", "paper", "--quick", "--out", str(tmp_path / "run"), *map(str, arguments)]
        return CliRunner().invoke(
            main, given, env={"PYOD_GESSVDD_DATA": str(data_dir), "COLUMNS": "100", **(env or {})}
        )

    return bench


def rows(folder, query="SELECT dataset, detector, seed, finished_at FROM jobs"):
    db = sqlite3.connect(folder / "results.sqlite")
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def test_bench_lists_the_paper_and_its_help_has_examples():
    listed = CliRunner().invoke(main, ["bench", "--help"])
    assert listed.exit_code == 0
    assert "paper" in listed.stdout
    shown = CliRunner().invoke(main, ["bench", "paper", "--help"])
    assert "gessvdd bench paper --quick --data-dir DATA" in shown.stdout


def test_a_run_prints_its_figures_beside_the_published_ones_and_leaves_them_in_its_folder(bench, tmp_path):
    published = tmp_path / "tables.csv"
    with published.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for target in ("DP", "DA", "average"):
            for metric, value in (("Gmean", 0.5), ("Gmean-sd", 0.1)):
                writer.writerow([metric, "linear", "heart", "clean", "clean", target, "GESSVDD-0-S-max", value])
    done = bench("--methods", "0-S-max,ESVDD", "--published", published)
    assert done.exit_code == 0
    assert done.stderr.endswith("heart.csv.gz: 3 columns used, 'label' is the label\n")
    assert "## heart, linear" in done.stdout
    assert done.stdout.count("0.50 ± 0.10") == 3
    assert "Mean over 1 variants" in done.stdout
    run = tmp_path / "run"
    assert (run / "report.md").read_text(encoding="utf-8") == done.stdout
    assert sorted(path.name for path in (run / "sensitivity").iterdir()) == [
        "heart_linear_ESVDD.png",
        "heart_linear_GESSVDD-0-S-max.png",
    ]
    with (run / "results.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert {row["published"] for row in table if row["method"] == "GESSVDD-0-S-max" and row["metric"] == "Gmean"} == {
        "0.5"
    }
    assert {row[0] for row in rows(run)} == {"heart:disease_present", "heart:disease_absent"}
    methods = {name for (name,) in rows(run, "SELECT DISTINCT spec FROM detectors")}
    assert methods == {"GESSVDD-0-S-max", "ESVDD"}


@pytest.mark.filterwarnings("ignore:the subspace has")
def test_the_protocol_is_a_slow_and_obvious_nested_loop(bench, data_dir, tmp_path):
    names = ("GESSVDD-kNN-GR-min", "GESSVDD-Sw-SR-max")
    assert bench("--methods", ",".join(names), "--splits", 1, "--no-plots").exit_code == 0
    with (tmp_path / "run" / "results.csv").open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        ours = {(row["method"], row["target_class"]): float(row["value"]) for row in table if row["metric"] == "Gmean"}
    heart = load("heart", data_dir)
    train, test = train_test_split(np.arange(len(heart.X)), test_size=0.3, stratify=heart.labels, random_state=0)
    for target, short in DATASETS["heart"].targets.items():
        positive = heart.labels == target
        low, high = (bound(heart.X[train][positive[train]], axis=0) for bound in (np.min, np.max))
        X = (heart.X - low) / (high - low)
        for name in names:
            grid = {"C": [0.1, 0.3, 0.6], "n_components": [1, 3]}
            grid |= {"step_size": [0.1, 10.0, 1000.0]} if "-GR-" in name else {}
            chosen = []
            for values in itertools.product(*grid.values()):
                point = dict(zip(grid, values, strict=True))
                gmeans = []
                folds = StratifiedKFold(5, shuffle=True, random_state=0)
                for fitted, held in folds.split(X[train], positive[train]):
                    fold = train[fitted]
                    model = GESSVDD.from_variant(name, random_state=0, **point).fit(X[fold][positive[fold]])
                    gmeans.append(gmean_score(~positive[train[held]], model.predict(X[train[held]]), normal=0))
                chosen.append((np.mean(gmeans), point))
            best = max(chosen, key=lambda pair: pair[0])[1]
            model = GESSVDD.from_variant(name, random_state=0, **best).fit(X[train][positive[train]])
            expected = gmean_score(~positive[test], model.predict(X[test]), normal=0)
            assert ours[name, short] == pytest.approx(expected, abs=1e-8)


def test_the_papers_figures_are_in_the_package(bench, tmp_path):
    done = bench("--methods", "0-S-max", "--splits", 1, "--no-plots")
    assert done.exit_code == 0, done.stderr
    expected = Published.load(PAPER).get(
        Block("linear", "heart", "clean", "clean"), "Gmean", "average", "GESSVDD-0-S-max"
    )
    with (tmp_path / "run" / "results.csv").open(encoding="utf-8", newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if (row["metric"], row["target_class"]) == ("Gmean", "average")]
    assert float(row["published"]) == expected
    assert "## Where the published figures contradict themselves" in done.stdout
    assert "mnist" not in done.stdout, "contradictions of tables that were not run"


def test_quick_is_two_splits_of_heart_and_resuming_adds_what_is_new_only(bench, tmp_path):
    assert bench("--methods", "ESVDD", "--no-plots").exit_code == 0
    first = rows(tmp_path / "run")
    # Two classes, two splits and three values of C.
    assert len(first) == 12
    time.sleep(1.1)  # the times of the store are in seconds
    resumed = bench("--methods", "ESVDD,SVDD", "--no-plots", "--resume")
    assert resumed.exit_code == 0
    assert "| SVDD |" in resumed.stdout
    second = rows(tmp_path / "run")
    assert len(second) == 24
    assert set(first) < set(second)
    assert not (tmp_path / "run" / "sensitivity").exists()


def test_the_report_of_comparisons_names_the_command_that_draws_this_one(bench, tmp_path):
    assert bench("--methods", "ESVDD", "--splits", 1, "--no-plots").exit_code == 0
    done = CliRunner().invoke(main, ["report", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "is one of gessvdd bench paper; the same command with --resume draws its report" in done.stderr


def test_a_non_linear_run_searches_the_width(bench, tmp_path):
    assert bench("--methods", "ESVDD", "--nonlinear", "--splits", 1, "--no-plots").exit_code == 0
    parameters = [json.loads(text) for (text,) in rows(tmp_path / "run", "SELECT parameters FROM detectors")]
    assert {tuple(point) for point in parameters} == {("description", "C", "sigma")}
    assert len({point["sigma"] for point in parameters}) == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--datasets", "hart"], "unknown data set 'hart'; there are all, clean, seeds"),
        (["--datasets", "iris"], "the data set 'iris' is not there: expected"),
        (["--methods", "knn-gr-mim"], "unknown method 'knn-gr-mim'; did you mean GESSVDD-kNN-GR-min"),
        (["--methods", "GESVM-Sw", "--linear"], "nothing to run: the paper has no linear GESVM-Sw"),
        (["--published", "nowhere.csv"], "cannot read the published figures in nowhere.csv"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence_and_leaves_nothing_behind(bench, tmp_path, arguments, sentence):
    done = bench(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"gessvdd: {sentence}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_without_a_data_folder_it_says_how_to_name_one(bench):
    done = bench(env={"PYOD_GESSVDD_DATA": ""})
    assert done.exit_code == 2
    assert done.stderr == "gessvdd: the paper's data are not in the package: name their folder with --data-dir\n"


def test_results_are_not_overwritten_unasked(bench):
    arguments = ("--methods", "ESVDD", "--splits", 1, "--no-plots")
    assert bench(*arguments).exit_code == 0
    refused = bench(*arguments)
    assert refused.exit_code == 2
    assert "already holds a run; continue it with --resume or replace it with --force" in refused.stderr
    assert bench(*arguments, "--force", "--seed", 1).exit_code == 0
    other = bench(*arguments, "--resume")
    assert other.exit_code == 2
    assert "has seed 1, now it is 0; continue with the same value, or use another --out" in other.stderr


def test_a_killed_run_goes_on_where_it_was(bench, data_dir, tmp_path):
    run = tmp_path / "run"
    arguments = [
        "bench",
        "paper",
        "--quick",
        "--out",
        str(run),
        "--methods",
        "ESVDD,0-S-max",
        "--splits",
        "3",
        "--no-plots",
    ]
    killed = subprocess.Popen(
        [sys.executable, "-m", "pyod_gessvdd", *arguments, "--data-dir", str(data_dir)],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with killed:
        while killed.poll() is None:
            if (run / "results.sqlite").exists() and n_trials(run) >= 2:
                killed.send_signal(signal.SIGKILL)
                break
            time.sleep(0.01)
        killed.communicate()
    before = rows(run)
    assert 2 <= len(before) < 54
    assert bench("--methods", "ESVDD,0-S-max", "--splits", 3, "--no-plots", "--resume").exit_code == 0
    after = rows(run)
    # Two classes, three splits, and 3 + 3 · 2 points of the grids (d is 1 or 3).
    assert len(after) == 2 * 3 * (3 + 3 * 2)
    assert set(before) < set(after)


def n_trials(run):
    try:
        return rows(run, "SELECT count(*) FROM jobs")[0][0]
    except sqlite3.Error:  # its tables are being made
        return 0


@pytest.mark.filterwarnings("ignore")  # what a cluster's own start-up warns about is not ours
def test_a_dask_cluster_finds_the_same(bench, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    arguments = ("--methods", "ESVDD", "--splits", 1, "--no-plots")
    assert bench(*arguments).exit_code == 0
    figures = "SELECT dataset, detector, seed, gmean, tpr, validation FROM jobs ORDER BY 1, 2, 3"
    here = rows(tmp_path / "run", figures)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        way = ("--backend", "dask", "--scheduler", cluster.scheduler_address)
        assert bench(*arguments, *way, "--out", tmp_path / "cluster").exit_code == 0
    assert rows(tmp_path / "cluster", figures) == here


def test_a_point_that_takes_too_long_is_stopped_and_the_run_goes_on(bench, tmp_path):
    done = bench("--methods", "ESVDD", "--splits", 1, "--no-plots", "--timeout", 1e-6)
    assert done.exit_code == 0
    assert set(rows(tmp_path / "run", "SELECT status, error FROM jobs")) == {("timeout", "stopped after 1e-06 seconds")}
    assert "ESVDD, disease_present, split 0: stopped after 1e-06 seconds" in done.stdout


def test_two_processes_in_the_same_folder_share_the_work(data_dir, tmp_path):
    run = tmp_path / "run"
    arguments = ["--methods", "ESVDD,0-S-max", "--splits", "2", "--no-plots", "--resume", "-v"]
    command = [sys.executable, "-m", "pyod_gessvdd", "bench", "paper", "--quick", "--out", str(run), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "PYOD_GESSVDD_DATA": str(data_dir)}
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    n_jobs = 2 * 2 * (3 + 3 * 2)
    assert len(rows(run)) == n_jobs
    # Each job was run, and told of, by one of the two.
    told = [
        line.partition(" ")[2].partition(":")[0] for text in said for line in text.splitlines() if " nested " in line
    ]
    assert len(told) == n_jobs
