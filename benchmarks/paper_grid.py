"""The paper's protocol on whole grids: ``python benchmarks/paper_grid.py --data-dir DIR --sets heart --linear``.

For every method, target and split the validation Gmean of the five folds and the test rates of *every* point of the
grid after *every* update are kept in one file per run, ``paper-runs/<set>_<description>_<setup>_<grid>.npz``. From
these ``benchmarks/paper.py`` makes its tables: which point is chosen, and after how many updates, is decided there.
``--setup`` names what departs from the paper, see ``plugins/pyod-gessvdd-authors``. Without ``--sets`` it runs
everything that the page ``docs/reproduction.md`` shows, several hours of computing; what is there is not run again.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd.experiments.data.paper import DATASETS, targets
from pyod_gessvdd.experiments.detectors.paper.fitted import AS_WRITTEN, Setup, fit_grid
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, NONLINEAR, Method, choose_methods
from pyod_gessvdd.experiments.protocols.nested import Nested
from pyod_gessvdd.experiments.protocols.protocol import Split

Array = np.ndarray

#: With clusters drawn anew in every fit, the points of a grid are spread over this many graphs.
DRAWS = 6
TABLES = "seeds,qualitative_bankruptcy,somerville_happiness,liver,iris,ionosphere,sonar,heart"
NOISY = "heart-noisy-test,heart-noisy-train,heart-noisy-both"
#: Some variants, where all would take hours.
FEW = "GESSVDD-0-GR-min,GESSVDD-I-GR-min,GESSVDD-Sb-GR-max,GESSVDD-kNN-GR-min,GESSVDD-kNN-SR-max"
#: The runs of the page, as the options of this command.
PAGE = (
    f"--sets {TABLES},{NOISY} --methods all",
    f"--sets {TABLES},{NOISY} --methods all --nonlinear --quick",
    *(
        f"--sets heart,iris,seeds,liver --quick --setup {setup}"
        for setup in ("farthest", "sb_times_n", "random_start", "uncentred", "libsvm", "eigenvalues", "kmeans")
    ),
    "--sets iris,seeds,liver --quick --setup all",
    "--sets heart --setup all",
    "--sets heart --setup as_written --scale standard",
    "--sets heart --quick --setup as_written --scale none",
    "--sets heart --quick --setup all+libsvm_middle",
    *(
        f"--sets heart --quick --setup {setup} --scale {scale} --draw {draw}"
        for setup in ("random_start", "all")
        for scale in ("minmax", "standard")
        for draw in range(scale == "minmax", 5)
    ),
    *(f"--sets heart --nonlinear --quick --setup {setup}" for setup in ("width", "all")),
    "--sets mnist --methods all --quick",
    "--sets mnist --methods all --nonlinear --quick",
    f"--sets mnist --nonlinear --quick --setup all --methods {FEW}",
)


def setup_of(name: str) -> tuple[Setup, int]:
    """Algorithm 1 as written, or with departures of the authors' code, and how often clusters are drawn in a grid."""
    names = set(name.split("+")) - {"as_written"}
    draws = DRAWS if names & {"kmeans", "all"} else 1
    names.discard("kmeans")
    if not names:
        return AS_WRITTEN, draws
    from pyod_gessvdd_authors.departures import setup

    return setup(names), draws


def points_of(method: Method, description: str, n_features: int, quick: bool) -> tuple[list[dict[str, Any]], list[Any]]:
    """The points of a grid without the width, and the widths."""
    grid = method.grid(description, n_features, quick=quick)
    sigmas = grid.pop("sigma", [None])
    points = list(ParameterGrid(grid))
    points.sort(key=lambda point: [grid[name].index(point[name]) for name in grid])
    return points, sigmas


def rates(accepted: Array, labels: Array) -> tuple[Array, Array]:
    """The shares of target rows that are accepted and of others that are not, for each point."""
    return accepted[:, labels == 0].mean(axis=1), 1.0 - accepted[:, labels == 1].mean(axis=1)


def measure(
    method: Method,
    points: list[dict[str, Any]],
    sigmas: list[Any],
    split: Split,
    seed: int,
    setup: Setup = AS_WRITTEN,
    draws: int = 1,
) -> Array:
    """(validation, tpr, tnr) of every point after every update, of shape (widths, points, updates + 1, 3)."""
    if draws > 1 and method.name.startswith(("GESSVDD-Sw-", "GESSVDD-Sb-")):
        parts = [measure(method, points[k::draws], sigmas, split, seed + 7919 * k, setup) for k in range(draws)]
        found = np.empty((len(sigmas), len(points), *parts[0].shape[2:]))
        for k, part in enumerate(parts):
            found[:, k::draws] = part
        return found
    found = np.full((len(sigmas), len(points), 1, 3), np.nan)
    if method.is_variant:
        found = np.full((len(sigmas), len(points), setup.n_iter + 1, 3), np.nan)
    for place, sigma in enumerate(sigmas):
        folds = []
        for part in (split, *split.inner):
            values = np.full((*found.shape[1:3], 2), np.nan)
            try:
                if method.is_variant:
                    grid = fit_grid(method.name, part.train, points, seed, setup, sigma)
                    for iterate in range(setup.n_iter + 1):
                        tpr, tnr = rates(grid.accept(part.test, iterate), part.labels)
                        values[:, iterate, 0], values[:, iterate, 1] = tpr, tnr
                    values[~grid.exists] = np.nan
                else:
                    values[:, 0] = [_alone(method, point, sigma, part, seed) for point in points]
            except ValueError:
                pass  # no such model for these rows: its figures stay NaN
            folds.append(values)
        found[place, ..., 0] = np.mean([np.sqrt(fold[..., 0] * fold[..., 1]) for fold in folds[1:]], axis=0)
        found[place, ..., 1:] = folds[0]
    return found


def _alone(method: Method, point: dict[str, Any], sigma: float | None, part: Split, seed: int) -> tuple[float, float]:
    given = point if sigma is None else {**point, "sigma": sigma}
    try:
        model = method.build(LINEAR if sigma is None else NONLINEAR, given, seed).fit(part.train)
    except (ValueError, RuntimeError):
        return np.nan, np.nan
    accepted = model.predict(part.test) == 0
    return accepted[part.labels == 0].mean(), 1.0 - accepted[part.labels == 1].mean()


def run(
    folder: Path,
    data_dir: Path,
    name: str,
    description: str,
    setup_name: str,
    *,
    methods: list[Method],
    splits: int,
    quick: bool,
    scale: str = "minmax",
    only: tuple[str, ...] = (),
    draw: int = 0,
) -> Path:
    """Run one set, description and setup; what the file already holds is not run again."""
    grid = "quick" if quick else "full"
    suffix = ("" if scale == "minmax" else f"_{scale}") + (f"_draw{draw}" if draw else "")
    path = folder / f"{name}_{description}_{setup_name}_{grid}{suffix}.npz"
    held = dict(np.load(path)) if path.exists() else {}
    seconds = float(held.pop("seconds", 0.0))
    start = time.process_time()
    for seed in range(1 if DATASETS[name].has_own_split else splits):
        for target in targets(DATASETS[name], data_dir):
            label = target.name.partition(":")[2]
            if only and label not in only:
                continue
            todo = [method for method in methods if f"{label}|{seed}|{method.name}" not in held]
            todo = [method for method in todo if description in method.descriptions]
            if not todo:
                continue
            (split,) = Nested(scale).splits(target, seed)
            for method in todo:
                points, sigmas = points_of(method, description, target.n_features, quick)
                values = measure(method, points, sigmas, split, seed + 1000 * draw, *setup_of(setup_name))
                held[f"{label}|{seed}|{method.name}"] = values.astype(np.float32)
            folder.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, seconds=seconds + time.process_time() - start, **held)
            print(f"{path.name} {label} {seed}: {seconds + time.process_time() - start:.0f} s of computing", flush=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("paper-runs"))
    parser.add_argument("--sets", help="names with commas; everything that the page shows unless given")
    parser.add_argument("--nonlinear", action="store_true")
    parser.add_argument("--setup", default="as_written", help="as_written, or departures with + between them")
    parser.add_argument("--methods", default="variants", help="names and groups with commas")
    parser.add_argument("--targets", default="", help="classes with commas; all unless given")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--scale", default="minmax")
    parser.add_argument("--draw", type=int, default=0, help="which draw of random starts and clusters")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    where = ["--data-dir", str(asked.data_dir), "--out", str(asked.out)]
    plans = [asked] if asked.sets else [parser.parse_args([*where, *options.split()]) for options in PAGE]
    for given, name in ((plan, name) for plan in plans for name in plan.sets.split(",")):
        run(
            given.out,
            given.data_dir,
            name,
            NONLINEAR if given.nonlinear else LINEAR,
            given.setup,
            methods=choose_methods(given.methods.split(",")),
            splits=given.splits,
            quick=given.quick,
            scale=given.scale,
            only=tuple(filter(None, given.targets.split(","))),
            draw=given.draw,
        )


if __name__ == "__main__":
    main()
