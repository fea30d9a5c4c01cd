"""Our own description under the paper's protocol: ``python benchmarks/paper_own.py --data-dir DIR``.

``GESSVDD()`` and ``GESSVDD(novelty=True)`` without any search, their labels by ``contamination`` and by ``radius``; and
with the paper's five folds over four ridges and eight shares of training rows that are refused. Six ways and 32 points,
of each the validation Gmean and the test rates, in ``paper-runs/own_<set>.csv``.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import itertools

import numpy as np
from paper_trials import run_trials

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.experiments.protocols.protocol import Split

Array = np.ndarray

#: Without a search: name → the detector's parameters.
FIXED = {
    "GESSVDD()": {},
    'GESSVDD(threshold="radius")': {"threshold": "radius"},
    "GESSVDD(novelty=True)": {"novelty": True},
    'GESSVDD(novelty=True, threshold="radius")': {"novelty": True, "threshold": "radius"},
}
#: What the folds choose from: the ridge, and the share of the training rows beyond the threshold.
RIDGES = (None, 1e-3, 1e-1, 10.0)
SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SEARCHED = {"GESSVDD, searched": {}, "GESSVDD(novelty=True), searched": {"novelty": True}}


def rates(refused: Array, labels: Array) -> tuple[float, float]:
    return float(1.0 - refused[labels == 0].mean()), float(refused[labels == 1].mean())


def fixed(split: Split, parameters: dict[str, object], seed: int) -> tuple[float, float]:
    detector = GESSVDD(random_state=seed, **parameters).fit(split.train)
    return rates(detector.predict(split.test), split.labels)


def searched(split: Split, parameters: dict[str, object], seed: int, ridge: float | None) -> list[tuple[float, float]]:
    """The rates for every share: one fit serves them all, as only the threshold changes."""
    detector = GESSVDD(random_state=seed, ridge=ridge, **parameters).fit(split.train)
    scores = detector.decision_function(split.test)
    limits = np.quantile(detector.decision_scores_, [1.0 - share for share in SHARES])
    return [rates(scores > limit, split.labels) for limit in limits]


def gmean(pair: tuple[float, float]) -> float:
    return float(np.sqrt(pair[0] * pair[1]))


def trials(split: Split, seed: int) -> list[dict[str, object]]:
    """A line for each way: its test rates, at the point that the folds choose if there is a search."""
    lines = []
    for name, parameters in FIXED.items():
        tpr, tnr = fixed(split, parameters, seed)
        lines.append({"method": name, "gmean": gmean((tpr, tnr)), "tpr": tpr, "tnr": tnr, "point": ""})
    for name, parameters in SEARCHED.items():
        points = list(itertools.product(RIDGES, SHARES))
        found = {}
        for ridge in RIDGES:
            folds = [[gmean(pair) for pair in searched(fold, parameters, seed, ridge)] for fold in split.inner]
            found |= {(ridge, share): value for share, value in zip(SHARES, np.mean(folds, axis=0), strict=True)}
        best = max(points, key=lambda point: found[point])
        tpr, tnr = searched(split, parameters, seed, best[0])[SHARES.index(best[1])]
        lines.append({"method": name, "gmean": gmean((tpr, tnr)), "tpr": tpr, "tnr": tnr, "point": str(best)})
    return lines


if __name__ == "__main__":
    run_trials("own", __doc__, trials)
