"""The whole family under the paper's protocol, few points each: ``python benchmarks/paper_family.py --data-dir DIR``.

Every method of ``docs/family.md`` that takes a table and no labels, with C in {0.1, 0.3, 0.6}, d in {1, 3, 5} and, for
those that live in a kernel's space, σ in {1, 10}; where there is an η, it is 0.1. The boundary decides. One line per
trial in ``paper-runs/family_<set>.csv``; ``paper.py`` makes the table. MNIST, which takes hours, is run only if named.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from collections.abc import Callable
from typing import Any

import numpy as np
from paper_trials import run_trials
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd import ESSVDD, ESVDD, GESSVDD, GESVDD, L2SVDD, MSSVDD, OCKSR, SSVDD, SVDD
from pyod_gessvdd.experiments.protocols.protocol import Split

C = {"C": [0.1, 0.3, 0.6]}
SUBSPACE = {**C, "n_components": [1, 3, 5]}
WIDTH = {"sigma": [1.0, 10.0]}
PLAIN = {"kernel": "linear", "standardize": False, "threshold": "radius"}
KERNEL = {"kernel": "rbf", "standardize": False, "threshold": "radius"}


def _halves(n_features: int) -> dict[str, list[int]]:
    """Two modalities: the first half of the columns and the rest."""
    half = n_features // 2
    return {"first": list(range(half)), "second": list(range(half, n_features))}


#: Name → how to build it from a point of its grid, and the grid.
MEMBERS: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {
    "SVDD": (lambda n, **point: SVDD(**PLAIN, **point), C),
    "SVDD, RBF": (lambda n, **point: SVDD(**KERNEL, **point), {**C, **WIDTH}),
    "ESVDD": (lambda n, **point: ESVDD(**PLAIN, **point), C),
    "GESVDD-Sw": (lambda n, **point: GESVDD(laplacian="within", random_state=0, **PLAIN, **point), C),
    "GESVDD-kNN": (lambda n, **point: GESVDD(laplacian="knn", **PLAIN, **point), C),
    **{
        f"{family.__name__} (ψ{psi})": (
            lambda n, family=family, psi=psi, **point: family(psi=psi, beta=0.01, center=psi != 1, **PLAIN, **point),
            SUBSPACE,
        )
        for family in (SSVDD, ESSVDD)
        for psi in (0, 1, 2, 3)
    },
    "X-SSVDD (ψ kNN)": (lambda n, **point: SSVDD(psi="knn", beta=0.01, **PLAIN, **point), SUBSPACE),
    "KG-SSVDD (feature_knn)": (lambda n, **point: SSVDD(feature_laplacian="feature_knn", **PLAIN, **point), SUBSPACE),
    "NS-SVDD, RBF": (
        lambda n, **point: GESSVDD.from_variant("0-GR-min", updater="newton_ssvdd", kernel="rbf", **point),
        {**SUBSPACE, **WIDTH},
    ),
    "MS-SVDD (two halves, ω5)": (
        lambda n, **point: MSSVDD(_halves(n), regularizer=5, beta=0.01, random_state=0, **point),
        {**C, "n_components": [1, 2]},
    ),
    "OC-KSR": (lambda n, **point: OCKSR(**KERNEL, **point), WIDTH),
    "ℓ2-SVDD": (lambda n, **point: L2SVDD(**KERNEL, **point), {**C, **WIDTH}),
    "GESSVDD-kNN-GR-min": (lambda n, **point: GESSVDD.from_variant("kNN-GR-min", **point), SUBSPACE),
    "GESSVDD-PCA-GR-max": (lambda n, **point: GESSVDD.from_variant("PCA-GR-max", **point), SUBSPACE),
}


def rates(build: Callable[..., Any], point: dict[str, Any], split: Split) -> tuple[float, float]:
    """TPR and TNR, NaN if there is no such model for these rows."""
    try:
        refused = build(split.train.shape[1], **point).fit(split.train).predict(split.test)
    except (ValueError, RuntimeError):
        return float("nan"), float("nan")
    return float(1.0 - refused[split.labels == 0].mean()), float(refused[split.labels == 1].mean())


def trial(name: str, split: Split) -> dict[str, Any]:
    """The test rates at the point that the folds choose."""
    build, grid = MEMBERS[name]
    best, chosen = -1.0, None
    for point in ParameterGrid(grid):
        if point.get("n_components", 1) > split.train.shape[1]:
            continue
        found = np.mean([np.sqrt(np.prod(rates(build, point, fold))) for fold in split.inner])
        if found > best:
            best, chosen = float(found), point
    if chosen is None:
        return {"method": name, "gmean": float("nan"), "tpr": float("nan"), "tnr": float("nan"), "point": ""}
    tpr, tnr = rates(build, chosen, split)
    return {"method": name, "gmean": float(np.sqrt(tpr * tnr)), "tpr": tpr, "tnr": tnr, "point": str(chosen)}


if __name__ == "__main__":
    run_trials("family", __doc__, lambda split, seed: [trial(member, split) for member in MEMBERS], leave_out="mnist")
