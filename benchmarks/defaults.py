"""Why the defaults are what they are: one choice changed at a time, without a look at the labels while fitting.

    python benchmarks/defaults.py --data-dir DATA

fits every variation on at most 500 training rows of the sets that defaults may be chosen on
(``benchmarks/quality_parts.json``), trained on clean rows (novelty) and with outliers among them (contaminated), and
writes ``benchmarks/results/defaults.md``. The second table asks whether learning a subspace pays: graphs, dimensions,
updates and directions.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.progress import track
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pyod_gessvdd import GESSVDD

HERE = Path(__file__).parent
SETTINGS = ("novelty", "contaminated")
#: Training and test rows of a set; few, so that many variations can be tried.
TRAIN, TEST = 500, 1000

#: One line per variation; the novelty setting is told that its rows are clean, unless the variation says otherwise.
PARAMETERS: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "novelty=False": {"novelty": False},
    "trim=None": {"trim": None},
    "trim=0.05": {"trim": 0.05},
    "trim=0.2": {"trim": 0.2},
    **{f'kernel="{kernel}"': {"kernel": kernel} for kernel in ("laplacian", "exponential", "matern", "linear")},
    'kernel="rbf", gamma="auto"': {"kernel": "rbf", "gamma": "auto"},
    **{f'standardize="{name}"': {"standardize": name} for name in ("standard", "robust", "signed_log", "quantile")},
    **{f"ridge={ridge:g}": {"ridge": ridge} for ridge in (1e-7, 1e-5, 1e-3, 1e-1)},
    **{f"nu={nu}": {"nu": nu} for nu in (0.01, 0.5)},
    'laplacian="none" (SVDD)': {"laplacian": "none"},
    "residual=False": {"residual": False, "n_components": None},
}
SUBSPACES: dict[str, dict[str, Any]] = {
    "the whole space (default)": {},
    **{f'whole space, laplacian="{graph}"': {"laplacian": graph} for graph in ("pca", "within", "knn")},
    **{f"d = {d}, no updates": {"n_components": d, "n_iter": 0} for d in (5, 20, 100)},
    **{f'd = {d}, 5 updates, "max"': {"n_components": d, "n_iter": 5} for d in (5, 20, 100)},
    **{f'd = {d}, 5 updates, "min"': {"n_components": d, "n_iter": 5, "criterion": "min"} for d in (5, 20, 100)},
    **{
        f'd = 20, 5 updates, "{criterion}", laplacian="knn"': {
            "n_components": 20,
            "laplacian": "knn",
            "criterion": criterion,
        }
        for criterion in ("max", "min")
    },
    'd = 20, updater="riemannian"': {"n_components": 20, "updater": "riemannian(max_steps=20)"},
    'd = 20, updater="spectral"': {"n_components": 20, "updater": "spectral"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder with adbench/ and oddbench/")
    parser.add_argument("--every", type=int, default=1, help="take every n-th set (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--results", type=Path, default=HERE / "results" / "defaults.md", help="(default: %(default)s)")
    given = parser.parse_args()
    chosen = json.loads((HERE / "quality_parts.json").read_text(encoding="utf-8"))["choose"]
    paths = [given.data_dir / folder / f"{name}.npz" for folder, names in chosen.items() for name in names]
    paths = [path for path in paths[:: given.every] if path.exists()]
    jobs = [delayed(measure)(path, setting) for path in paths for setting in SETTINGS]
    found: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for results in track(Parallel(n_jobs=given.jobs, return_as="generator")(jobs), total=len(jobs)):
        for key, values in results.items():
            found[key].append(values)
    text = "\n".join(
        [
            "# Why the defaults are what they are",
            "",
            f"`python benchmarks/defaults.py --data-dir DATA --every {given.every}`: mean ROC-AUC / average precision "
            f"over {len(paths)} data sets that defaults may be chosen on, one seed, at most {TRAIN} training rows of "
            "each.",
            "",
            "## One parameter changed at a time",
            "",
            *table(PARAMETERS, found),
            "",
            "## Whether learning a subspace pays",
            "",
            *table(SUBSPACES, found),
        ]
    )
    given.results.write_text(text + "\n", encoding="utf-8")
    print(text)


def measure(path: Path, setting: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Every variation on one data set; one that cannot be fitted has no entry."""
    warnings.simplefilter("ignore")  # dimensions that a graph does not see
    train, test, labels = rows_of(path, setting)
    results = {}
    if not 2 <= labels.sum() <= len(labels) - 2:
        return results
    for name, parameters in {**PARAMETERS, **SUBSPACES}.items():
        try:
            detector = GESSVDD(**{"novelty": setting == "novelty", "random_state": 0, **parameters}).fit(train)
        except ValueError:
            continue
        scores = detector.decision_function(test)
        results[name, setting] = (roc_auc_score(labels, scores), average_precision_score(labels, scores))
    return results


def rows_of(path: Path, setting: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows and test rows, standardised by the former, and the test rows' labels."""
    data = np.load(path, allow_pickle=False)
    X, y = np.asarray(data["X"], dtype=float), np.asarray(data["y"]).ravel().astype(int)
    train, test, train_y, test_y = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    outliers = train[train_y == 1][: 0 if setting == "novelty" else TRAIN // 10]
    train = np.vstack([train[train_y == 0][: TRAIN - len(outliers)], outliers])
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test[:TEST]), test_y[:TEST]


def table(variations: dict[str, Any], found: dict[tuple[str, str], list[tuple[float, float]]]) -> list[str]:
    lines = ["| | " + " | ".join(SETTINGS) + " |", "|---|" + "---:|" * len(SETTINGS)]
    for name in variations:
        cells = []
        for setting in SETTINGS:
            values = found.get((name, setting), [])
            mean = np.mean(values, axis=0) if values else (np.nan, np.nan)
            most = max(len(found[key]) for key in found if key[1] == setting)
            left_out = f" ({most - len(values)} failed)" if len(values) < most else ""
            cells.append(f"{mean[0]:.4f} / {mean[1]:.4f}{left_out}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
