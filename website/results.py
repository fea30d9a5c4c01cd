"""The figures that the README quotes, read from the benchmarks' results; ``python -m website.results`` puts them in."""

from __future__ import annotations

import re
from typing import NamedTuple

from website.pages import ROOT

RESULTS = ROOT / "benchmarks" / "results"
OURS = ("GESSVDD(novelty=True)", "GESSVDD()")
N_OTHERS = 5

#: The settings of the quality benchmark, and what they are to a reader.
SETTINGS = {
    "novelty": "clean training rows",
    "contaminated": "contaminated rows",
    "transductive": "the training rows themselves",
}

#: What is quoted of the speed benchmark, and how its line there begins.
SPEEDS = {
    "a linear description of 1,000,000 rows × 20 columns, as in the paper (`residual=False, standardize=True`)": (
        "linear fit (pca, gradient, 5 updates, d = 5) vs scikit-learn's PCA, N = 1,000,000"
    ),
    "the default, `GESSVDD()`, on 1,000 rows": "default fit vs PyOD's KPCA, N = 1,000",
    "the default on 200,000 rows": "default fit vs scikit-learn's Nystroem (500 landmarks), N = 200,000",
}


class Figures(NamedTuple):
    """Mean ROC-AUC and average precision of a detector in a setting."""

    detector: str
    roc_auc: float
    average_precision: float

    def __str__(self) -> str:
        return f"{self.roc_auc:.3f} / {self.average_precision:.3f}"


def quality(setting: str) -> list[Figures]:
    """All detectors in a setting, on the sets that the defaults were not chosen on, the best first."""
    text = (RESULTS / "quality.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {setting}, not chosen on, .*?\n\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()]
    place = {name: rows[0].index(name) for name in ("ROC-AUC", "AP")}
    found = [Figures(row[0], float(row[place["ROC-AUC"]]), float(row[place["AP"]])) for row in rows[2:]]
    return sorted(found, key=lambda figures: -figures.roc_auc)


def quality_table() -> str:
    """Ours and the best others of each setting, as Markdown."""
    found = {setting: quality(setting) for setting in SETTINGS}
    lines = [f"| | {' | '.join(SETTINGS.values())} |", "|---|---|---|---|"]
    for ours in OURS:
        cells = []
        for figures in found.values():
            own = next(entry for entry in figures if entry.detector == ours)
            cells.append(f"**{own}**" if own == figures[0] else str(own))
        lines.append(f"| `{ours}` | {' | '.join(cells)} |")
    others = [[entry for entry in figures if entry.detector not in OURS] for figures in found.values()]
    for place in range(N_OTHERS):
        cells = [f"{column[place].detector} {column[place]}" for column in others]
        lines.append(f"| other, no. {place + 1} | {' | '.join(cells)} |")
    return "\n".join(lines)


def quality_date() -> str:
    """The day of the benchmark, as its file says."""
    (date,) = re.findall(r"(\d+ \w+ \d{4});", (RESULTS / "quality.md").read_text(encoding="utf-8").split("\n\n")[1])
    return date


def speed_list() -> str:
    """Three times, as Markdown."""
    lines = (RESULTS / "speed.md").read_text(encoding="utf-8").splitlines()
    items = []
    for what, beginning in SPEEDS.items():
        (line,) = [line for line in lines if line.startswith(f"| {beginning},")]
        ours = line.strip("| ").split("|")[-1].split(",")[0].strip()
        items.append(f"- {what}: **{ours}**")
    return "\n".join(items)


def parts() -> dict[str, str]:
    """The parts of the README that are figures, by the name of their mark."""
    return {
        "quality": f"\n\n{quality_table()}\n\n",
        "date": f"({quality_date()}, `python benchmarks/quality.py --data-dir DATA --rows 1000`)",
        "speed": f"\n\n{speed_list()}\n\n",
    }


def filled(readme: str) -> str:
    """The README with the present figures between its marks."""
    for name, text in parts().items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, _, rest = readme.partition(begin)
        readme = before + begin + text + end + rest.partition(end)[2]
    return readme


if __name__ == "__main__":
    README = ROOT / "README.md"
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
