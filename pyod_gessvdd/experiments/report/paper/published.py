"""The published figures: reading them, and finding where they contradict themselves."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from pyod_gessvdd.errors import ComparisonError

#: The paper's figures, with their source in the first lines.
PAPER = Path(__file__).parents[1] / "published" / "gessvdd.csv"
COLUMNS = ("metric", "description", "dataset", "train", "test", "target_class", "method", "value")
AVERAGE = "average"
#: The figures have two decimals: a sum of two may be off by this much.
ROUNDING = 0.0101
#: A table in which at least this share of the cells repeats another's is a copy.
COPIED = 0.95
#: So many cells must agree before agreement is called a copy.
MIN_CELLS = 6


class Block(NamedTuple):
    """One table of the paper: a data set, linear or not, with noise or not ("clean" or "corrupted", else "")."""

    description: str
    dataset: str
    train: str
    test: str

    def __str__(self) -> str:
        noise = f", {self.train} training and {self.test} test rows" if self.train else ""
        return f"{self.dataset}, {self.description}{noise}"


@dataclass(frozen=True)
class Published:
    """The figures by table, metric, target class and method."""

    figures: Mapping[tuple[Block, str, str, str], float]

    @classmethod
    def load(cls, path: Path) -> Published:
        """From a CSV file with the columns metric, description, dataset, train, test, target_class, method, value.

        Lines that begin with # say where the figures are from.
        """
        try:
            with path.open(encoding="utf-8", newline="") as lines:
                table = csv.DictReader(line for line in lines if not line.startswith("#"))
                missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
                if missing:
                    raise ComparisonError(f"{path} has no column {missing[0]!r}; expected {', '.join(COLUMNS)}")
                figures = {
                    (
                        Block(row["description"], row["dataset"], row["train"], row["test"]),
                        row["metric"],
                        row["target_class"],
                        row["method"],
                    ): float(row["value"])
                    for row in table
                }
        except (OSError, UnicodeDecodeError, ValueError, TypeError) as error:
            if isinstance(error, ComparisonError):
                raise
            raise ComparisonError(f"cannot read the published figures in {path}: {error}") from error
        return cls(figures)

    def of(self, blocks: Collection[Block]) -> Published | None:
        """The figures of these tables, or None if there are none."""
        figures = {key: value for key, value in self.figures.items() if key[0] in blocks}
        return Published(figures) if figures else None

    def get(self, block: Block, metric: str, target: str, method: str) -> float | None:
        """The figure, or None if the paper has none."""
        return self.figures.get((block, metric, target, method))

    def _tables(self) -> dict[Block, dict[str, dict[tuple[str, str], float]]]:
        """For each block and metric, the figures by (target, method)."""
        tables: dict[Block, dict[str, dict[tuple[str, str], float]]] = defaultdict(lambda: defaultdict(dict))
        for (block, metric, target, method), value in self.figures.items():
            tables[block][metric][target, method] = value
        return tables

    def inconsistencies(self) -> list[str]:
        """Sentences on what in the figures cannot be, found from the figures alone."""
        found = []
        for block, metrics in self._tables().items():
            for check in (_copied_metrics, _copied_rows, _wrong_complements, _impossible_gmeans, _wrong_averages):
                found += [f"{block}: {sentence}" for sentence in check(metrics)]
        return found


Metrics = Mapping[str, Mapping[tuple[str, str], float]]


def _copied_metrics(metrics: Metrics) -> Iterator[str]:
    """Metrics that have the same figures throughout; 0.00 everywhere proves nothing.

    FPR and FNR are left out: where they follow from TNR and TPR, they say the same a second time.
    """
    alike: dict[frozenset[str], tuple[int, int]] = {}
    for one, other in combinations([name for name in sorted(metrics) if name not in ("FPR", "FNR")], 2):
        cells = metrics[one].keys() & metrics[other].keys()
        same = sum(metrics[one][cell] == metrics[other][cell] for cell in cells)
        if len(cells) >= MIN_CELLS and same >= COPIED * len(cells) and any(metrics[one][cell] for cell in cells):
            joined = [group for group in alike if group & {one, other}]
            fewest = min([(same, len(cells)), *(alike.pop(group) for group in joined)])
            alike[frozenset({one, other}).union(*joined)] = fewest
    for group, (same, n_cells) in alike.items():
        yield f"the columns {' and '.join(sorted(group))} are the same in {same} of {n_cells} cells"


def _copied_rows(metrics: Metrics) -> Iterator[str]:
    """A variant's min and max rows that are the same for every target class."""
    for metric, figures in metrics.items():
        rows: dict[str, dict[str, float]] = defaultdict(dict)
        for (target, method), value in figures.items():
            rows[method][target] = value
        pairs = [(name, f"{name.removesuffix('min')}max") for name in rows if name.endswith("-min")]
        pairs = [pair for pair in pairs if pair[1] in rows and len(rows[pair[0]]) >= MIN_CELLS]
        same = [name.removesuffix("-min") for name, partner in pairs if rows[name] == rows[partner]]
        if same:
            which = "all" if len(same) == len(pairs) else f"{len(same)} of"
            yield f"the {metric} rows for min and max are identical in {which} {len(pairs)} pairs of variants"


def _wrong_complements(metrics: Metrics) -> Iterator[str]:
    """FPR = 1 − TNR and FNR = 1 − TPR."""
    for rate, complement in (("TNR", "FPR"), ("TPR", "FNR")):
        cells = metrics.get(rate, {}).keys() & metrics.get(complement, {}).keys()
        wrong = [cell for cell in cells if abs(metrics[rate][cell] + metrics[complement][cell] - 1.0) > ROUNDING]
        if wrong:
            yield f"{rate} + {complement} is not 1 in {len(wrong)} of {len(cells)} cells"


def _impossible_gmeans(metrics: Metrics) -> Iterator[str]:
    """A mean of √(TPR·TNR) over splits is at most √(mean TPR · mean TNR) (Cauchy, Schwarz); one of 0 has no sd."""
    gmeans, rates = metrics.get("Gmean", {}), (metrics.get("TPR", {}), metrics.get("TNR", {}))
    cells = [cell for cell in gmeans if cell[0] != AVERAGE and all(cell in rate for rate in rates)]
    above = [
        cell for cell in cells if gmeans[cell] > ((rates[0][cell] + 0.005) * (rates[1][cell] + 0.005)) ** 0.5 + 0.005
    ]
    if above:
        yield (
            f"Gmean is above √(TPR·TNR), which no mean over splits can be, in {len(above)} of {len(cells)} cells "
            f"({_example(above, gmeans)})"
        )
    spread = metrics.get("Gmean-sd", {})
    # A mean that rounds to 0.00 over five splits allows a standard deviation of 0.0112 at most.
    moving = [cell for cell in gmeans if gmeans[cell] == 0.0 and spread.get(cell, 0.0) > 0.015]
    if moving:
        yield f"Gmean is 0.00 with a standard deviation above 0.01 in {len(moving)} cells ({_example(moving, spread)})"


def _wrong_averages(metrics: Metrics) -> Iterator[str]:
    """The column of averages is the mean over the target classes."""
    for metric, figures in metrics.items():
        by_method: dict[str, list[float]] = defaultdict(list)
        for (target, method), value in figures.items():
            if target != AVERAGE:
                by_method[method].append(value)
        averages = {method: figures[AVERAGE, method] for method in by_method if (AVERAGE, method) in figures}
        wrong = [
            method
            for method, average in averages.items()
            if abs(average - sum(by_method[method]) / len(by_method[method])) > ROUNDING
        ]
        if wrong:
            yield f"the average {metric} is not the mean of the classes for {len(wrong)} of {len(averages)} methods"


def _example(cells: list[tuple[str, str]], figures: Mapping[tuple[str, str], float]) -> str:
    target, method = min(cells)
    return f"for example {method}, {target}: {figures[target, method]:.2f}"
