"""What ``paper_own.py`` and ``paper_family.py`` share: the paper's splits of some sets, one line per trial in a CSV."""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyod_gessvdd.experiments.data.paper import DATASETS, targets
from pyod_gessvdd.experiments.protocols.nested import Nested
from pyod_gessvdd.experiments.protocols.protocol import Split


def run_trials(
    kind: str, description: str | None, trials: Callable[[Split, int], list[dict[str, Any]]], leave_out: str = ""
) -> None:
    """Write ``<out>/<kind>_<set>.csv`` for every set that the command line names.

    Parameters
    ----------
    kind : str
        How the files' names begin.
    description : str
        The command's help text.
    trials : callable
        Maps a split and its seed to a line for each method.
    leave_out : str
        A set that is run only if it is named.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("paper-runs"))
    usual = [name for name in DATASETS if "noisy" not in name and name != leave_out]
    parser.add_argument("--sets", default=",".join(usual))
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.sets.split(","):
        start, lines = time.process_time(), []
        for seed in range(1 if DATASETS[name].has_own_split else given.splits):
            for target in targets(DATASETS[name], given.data_dir):
                (split,) = Nested("minmax").splits(target, seed)
                key = {"dataset": name, "target": target.name.partition(":")[2], "split": seed}
                lines += [key | line for line in trials(split, seed)]
        with (given.out / f"{kind}_{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
        print(f"{name}: {time.process_time() - start:.0f} s of computing", flush=True)
