"""What p-values and decisions are worth: normal rows that are called outliers, and false discoveries.

    python benchmarks/calibration.py --data-dir DATA

writes ``benchmarks/results/calibration.md``. Novelty detection on the sets of ``DATA/adbench``: at most 1,000 normal
rows train, as many others and outliers, a tenth of the test rows, are judged; three splits of each set. For GESSVDD,
p-values from the training rows as if left out, and with a fifth of them held back: the share of normal rows with
p ≤ 0.05, and the false discovery rate and the share of outliers found by ``predict_fdr(level=0.1)``. For PyOD's
detectors the same of their own rule, ``predict``.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.kpca import KPCA
from pyod.models.ocsvm import OCSVM
from sklearn.preprocessing import StandardScaler

from pyod_gessvdd import GESSVDD

RESULT = Path(__file__).parent / "results" / "calibration.md"
MOST_ROWS, OUTLIERS, LEVEL, SEEDS = 1000, 0.1, 0.1, (0, 1, 2)

OURS = {
    "GESSVDD(novelty=True), left out": {"novelty": True},
    "GESSVDD(novelty=True, calibration=0.2)": {"novelty": True, "calibration": 0.2},
    "GESSVDD(), left out": {},
    "GESSVDD(calibration=0.2)": {"calibration": 0.2},
}
PYOD = {"KNN": KNN, "KPCA": KPCA, "OCSVM": OCSVM, "IForest": IForest}


def split(path: Path, seed: int) -> tuple[Any, Any, Any] | None:
    """Training rows, test rows and the latter's labels, standardised; None if the set has too few rows."""
    data = np.load(path, allow_pickle=False)
    X, y = data["X"].astype(float), data["y"].ravel()
    random = np.random.default_rng(seed)
    normal, outliers = (random.permutation(np.flatnonzero(y == label)) for label in (0, 1))
    n_train = min(len(normal) // 2, MOST_ROWS)
    test = normal[n_train : n_train + MOST_ROWS]
    found = outliers[: max(1, round(len(test) * OUTLIERS / (1 - OUTLIERS)))]
    if n_train < 50 or X.shape[1] > 500:
        return None
    scaler = StandardScaler().fit(X[normal[:n_train]])
    return (
        scaler.transform(X[normal[:n_train]]),
        scaler.transform(X[[*test, *found]]),
        np.r_[np.zeros(len(test)), np.ones(len(found))],
    )


def judged(small: np.ndarray, called: np.ndarray, y: np.ndarray) -> dict[str, float]:
    return {
        "flagged": float(small[y == 0].mean()),
        "fdr": float((called[y == 0]).sum() / max(1, called.sum())),
        "found": float(called[y == 1].mean()),
    }


def rows(data: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((data / "adbench").glob("*.npz")):
        for seed in SEEDS:
            parts = split(path, seed)
            if parts is None:
                continue
            train, test, y = parts
            for name, params in OURS.items():
                detector = GESSVDD(random_state=seed, **params).fit(train)
                small = detector.p_values(test) <= 0.05
                called = detector.predict_fdr(test, level=LEVEL)
                yield {"set": path.stem, "seed": seed, "detector": name, **judged(small, called, y)}
            for name, make in PYOD.items():
                detector = make(random_state=seed) if name in ("KPCA", "IForest") else make()
                called = detector.fit(train).predict(test)
                yield {"set": path.stem, "seed": seed, "detector": name, **judged(called, called, y)}
        print(path.stem, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pd.DataFrame(rows(arguments.data_dir))
    order = [*OURS, *PYOD]
    means = table.groupby("detector")[["flagged", "fdr", "found"]].mean().loc[order]
    lines = [
        f"# Calibration\n\n{table['set'].nunique()} sets of ADBench, {len(SEEDS)} splits of each: `calibration.py`.\n",
        "| detector | normal rows flagged (p ≤ 0.05; PyOD: `predict`) | false discovery rate | outliers found |",
        "|---|---|---|---|",
        *(f"| {name} | {row.flagged:.3f} | {row.fdr:.3f} | {row.found:.3f} |" for name, row in means.iterrows()),
    ]
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
