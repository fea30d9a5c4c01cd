"""Why the defaults are what they are: one choice changed at a time, without a look at the labels while fitting.

    python benchmarks/defaults.py --data-dir DATA

fits every variation on a small part of half of the data sets (every second one of ADBench and ``arrhythmia`` of ODDS),
in the two settings of ``benchmarks/quality.py``, and writes ``benchmarks/results/defaults.md``. The first table
compares forms of the description, that is, ways to count what the projection discards; the second varies GESSVDD's
parameters.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.progress import track
from sklearn.metrics import roc_auc_score

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.compare.datasets import resolve_datasets
from pyod_gessvdd.compare.protocols import split
from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.preprocessing import Scaling

RESULTS = Path(__file__).parent / "results" / "defaults.md"
SETTINGS = {"novelty": 0, "unsupervised": 1}
#: Rows of a set that are drawn; small, so that many variations can be tried.
MAX_ROWS = 1000

#: One line per variation of ``GESSVDD()``.
VARIATIONS: dict[str, dict] = {
    "GESSVDD()": {},
    **{f'kernel="{kernel}"': {"kernel": kernel} for kernel in ("laplacian", "exponential", "matern", "linear")},
    'kernel="rbf", gamma="auto"': {"kernel": "rbf", "gamma": "auto"},
    **{f'standardize="{name}"': {"standardize": name} for name in ("standard", "robust", "quantile")},
    **{f"n_components={d}": {"kernel": f"mixed(max_features={2 * d})", "n_components": d} for d in (10, 30)},
    **{f"ridge={ridge}": {"ridge": ridge} for ridge in (1e-6, 0.01, 0.3, 1.0)},
    **{f"nu={nu}": {"nu": nu} for nu in (0.01, 0.5)},
    **{f'laplacian="{name}"': {"laplacian": name} for name in ("none", "identity", "within", "knn")},
    'criterion="min"': {"criterion": "min"},
    "n_iter=0": {"n_iter": 0},
    'updater="spectral"': {"updater": "spectral"},
    "residual=False": {"residual": False},
}


def forms(train: np.ndarray, test: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Scores under each form of the description: mixed kernel, signed logarithm, pca graph, no update of Q."""
    scaling = Scaling.learn(train, center=True, standardize="signed_log")
    kernel = resolve("kernel", "mixed(energy=1.0, approximation='exact', max_features=None)")
    Phi = kernel.fit_features(scaling.apply(train))
    phi, missed = kernel.features_and_residual(scaling.apply(test))
    scatter = (Phi**2).mean(axis=0)
    d = min(300, len(scatter) - 1)
    inside, outside = phi[:, :d] ** 2, (phi[:, d:] ** 2).sum(axis=1) + missed
    trained_inside, trained_outside = Phi[:, :d] ** 2, (Phi[:, d:] ** 2).sum(axis=1)
    rho = scatter[d:].mean()
    whitened = (inside / scatter[:d]).sum(axis=1)
    trained = (trained_inside / scatter[:d]).sum(axis=1)
    yield "the paper's score: inside the subspace only, d = 30", (phi[:, :30] ** 2 / scatter[:30]).sum(axis=1)
    yield "the paper's score, d = 300", whitened
    yield "the residual alone", outside
    yield (
        "one more coordinate r/√ρ on one side, centre at its mean",
        whitened + (np.sqrt(outside / rho) - np.sqrt(trained_outside / rho).mean()) ** 2,
    )
    yield "one more coordinate r/√ρ on both sides", whitened + outside / rho
    for share in (0.1, 0.3):
        ridge = share * scatter[:d].mean()
        yield (
            f"the same, with a ridge of {share} of the mean scatter",
            (inside / (scatter[:d] + ridge)).sum(axis=1) + outside / (rho + ridge),
        )
    for share in (1e-3, 1e-2):
        ridge = share * (scatter**2).sum() / scatter.sum()
        yield (
            f"no subspace: the full spectrum with a ridge of {share} of its scatter-weighted mean",
            (phi**2 / (scatter + ridge)).sum(axis=1) + missed / ridge,
        )
    # Each term in units of its median over the training rows.
    terms = whitened / np.median(trained), outside / max(float(np.median(trained_outside)), 1e-12)
    yield "the sum of the two terms, each in units of its training median", terms[0] + terms[1]
    yield "the larger of the two terms, each in units of its training median", np.maximum(*terms)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True, help="the folder with adbench/ and odds/")
    parser.add_argument("--results", type=Path, default=RESULTS, help="(default: %(default)s)")
    arguments = parser.parse_args()
    adbench = sorted(resolve_datasets("adbench", data_dir=arguments.data_dir), key=lambda dataset: dataset.name)
    datasets = [*adbench[::2], *resolve_datasets("odds/arrhythmia", data_dir=arguments.data_dir)]
    form_scores: dict[str, dict[str, list[float]]] = {}
    variation_scores: dict[str, dict[str, list[float]]] = {}
    for dataset in track(datasets):
        for setting, seed in SETTINGS.items():
            parts = split(dataset, setting, seed, MAX_ROWS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # dimensions that a graph does not see
                for name, scores in forms(parts.train, parts.test):
                    _add(form_scores, name, setting, parts.labels, scores)
                for name, params in VARIATIONS.items():
                    detector = GESSVDD(**params, random_state=0).fit(parts.train)
                    _add(variation_scores, name, setting, parts.labels, detector.decision_function(parts.test))
    text = "\n".join(
        [
            "# Why the defaults are what they are",
            "",
            f"`python benchmarks/defaults.py --data-dir DATA`: mean ROC-AUC over {len(datasets)} data sets, one seed, "
            f"at most {MAX_ROWS} rows of each, 70 % of them for training: "
            f"{', '.join(dataset.name for dataset in datasets)}.",
            "",
            "## What to do with the part outside the subspace",
            "",
            *_table("form", form_scores),
            "",
            "## One parameter changed at a time",
            "",
            *_table("detector", variation_scores),
        ]
    )
    arguments.results.write_text(text + "\n", encoding="utf-8")
    print(text)


def _add(
    table: dict[str, dict[str, list[float]]], name: str, setting: str, labels: np.ndarray, scores: np.ndarray
) -> None:
    table.setdefault(name, {}).setdefault(setting, []).append(float(roc_auc_score(labels, scores)))


def _table(heading: str, table: dict[str, dict[str, list[float]]]) -> list[str]:
    lines = [f"| {heading} | " + " | ".join(SETTINGS) + " |", "|---|" + "---:|" * len(SETTINGS)]
    for name, by_setting in table.items():
        lines.append(f"| {name} | " + " | ".join(f"{np.mean(by_setting[setting]):.4f}" for setting in SETTINGS) + " |")
    return lines


if __name__ == "__main__":
    main()
