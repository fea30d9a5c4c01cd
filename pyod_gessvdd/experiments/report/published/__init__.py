"""Published figures next to a run's own, marked as such, and in one ranking only if the protocol reproduces them.

``dte.csv`` holds the figures of 26 methods on ADBench's 57 sets, in per cent, as published with DTE (V. Livernoche et
al., "On diffusion modeling for anomaly detection", ICLR 2024), means over five seeds. Its F1, which flags as many rows
as there are outliers, is the precision at n. They were read from the tables kept in the public repository
A-Chicharito-S/FoMo-0D.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from pyod_gessvdd.experiments.metrics import described
from pyod_gessvdd.experiments.report.formats import number
from pyod_gessvdd.experiments.report.markdown import escape_markdown, pipe_table
from pyod_gessvdd.experiments.statistics.ranks import means, of_setting
from pyod_gessvdd.extras import need

if TYPE_CHECKING:
    import pandas as pd

    from pyod_gessvdd.experiments.result import ComparisonResult

_OTHERS = {"IForest": "IForest", "OCSVM": "OCSVM", "ECOD": "ECOD"}
#: PyOD's detectors that both have, and what the publication calls them. Its kNN has 5 neighbours, PyOD's default, in
#: the semi-supervised setting; in the other one 32 reproduce it: within 0.5 on each of eight sets, where 5 neighbours
#: are up to 16 off.
CALIBRATION = {
    "dte_semi": {"KNN": "kNN", **_OTHERS},
    "dte_unsupervised": {"KNN(n_neighbors=32)": "kNN", **_OTHERS},
}

#: So many points of a per cent a mean may differ from the published one.
ALLOWED = 1.0

#: Sets with fewer rows were drawn up to this many, so that copies of judged rows were trained on.
FEW_ROWS = 1_000


@dataclass(frozen=True)
class Calibration:
    """How far this protocol is from the published figures: by detector the two means in per cent, over the same sets.

    Attributes
    ----------
    setting : str
        The protocol.
    means : DataFrame
        By detector ``ours``, ``published`` and ``difference``; empty if none of them was run.
    """

    setting: str
    means: pd.DataFrame

    @property
    def holds(self) -> bool:
        """Whether all four were run and each mean is within a point of the published one."""
        return set(self.means.index) == set(CALIBRATION[self.setting]) and bool(
            (self.means["difference"].abs() <= ALLOWED).all()
        )

    @property
    def sentence(self) -> str:
        """What it says."""
        if self.means.empty:
            wanted = ", ".join(CALIBRATION[self.setting])
            return f"Not calibrated: none of {wanted} was run, so nothing is ranked with the published figures."
        told = ", ".join(f"{name} {row.ours:.1f} ({row.difference:+.1f})" for name, row in self.means.iterrows())
        verdict = (
            "each within a point: published and own figures may be read as one ranking"
            if self.holds
            else f"not all of {', '.join(CALIBRATION[self.setting])} within a point, so published and own "
            "figures are not put in one ranking"
        )
        return f"Calibration, mean in per cent and its difference from the published one: {told}; {verdict}."


def published_figures(setting: str, metric: str) -> pd.DataFrame:
    """The published figures in per cent, data sets (in lower case, without ADBench's number) by methods."""
    pandas = need("pandas", "compare", "published figures")
    with files(__package__).joinpath("dte.csv").open(encoding="utf-8") as lines:
        table = pandas.read_csv(lines)
    wanted = table[(table["setting"] == setting) & (table["metric"] == metric)]
    return wanted.set_index("dataset").drop(columns=["setting", "metric"])


def plain_name(dataset: str) -> str:
    """``6_cardio`` as the publication has it: ``cardio``."""
    head, _, tail = dataset.partition("_")
    return (tail if head.isdigit() and tail else dataset).lower()


def beside(result: ComparisonResult, setting: str, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Our figures in per cent and the published ones, on the data sets that both have."""
    ours = 100 * means(of_setting(result.table, setting), metric)
    ours.index = [plain_name(name) for name in ours.index]
    published = published_figures(setting, metric)
    shared = [name for name in ours.index if name in published.index]
    return ours.loc[shared], published.loc[shared]


def calibrate(result: ComparisonResult, setting: str, metric: str = "roc_auc") -> Calibration:
    """Compare PyOD's detectors run here with their published figures, on the data sets that both have."""
    pandas = need("pandas", "compare", "published figures")
    ours, published = beside(result, setting, metric)
    rows = {}
    for name, theirs in CALIBRATION[setting].items():
        if name in ours and ours[name].notna().any():
            done = ours[name].notna()
            rows[name] = (ours.loc[done, name].mean(), published.loc[done, theirs].mean())
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=["ours", "published"])
    return Calibration(setting, table.assign(difference=table["ours"] - table["published"]))


def published_report(result: ComparisonResult) -> str:
    """Own and published figures side by side in Markdown, a section per setting and metric; a failure is a cross."""
    parts = [
        "# Own figures compared with the published ones",
        "",
        __doc__.partition("\n\n")[2].replace("\n", " ").strip(),
    ]
    small = {plain_name(row["name"]) for row in result.datasets.to_dict("records") if row["n_rows"] < FEW_ROWS}
    for setting in result.table["setting"].unique():
        calibration = calibrate(result, setting)
        parts += ["", f"## {setting}", "", calibration.sentence]
        asked = result.meta.get("arguments", {}).get("metrics", [])
        for metric in [name for name in asked if not published_figures(setting, name).empty]:
            parts += ["", *_section(result, setting, metric, calibration, small)]
    return "\n".join(parts) + "\n"


def _section(
    result: ComparisonResult, setting: str, metric: str, calibration: Calibration, small: set[str]
) -> list[str]:
    pandas = need("pandas", "compare", "published figures")
    ours, published = beside(result, setting, metric)
    both = pandas.concat([ours.add_suffix(", run here"), published.add_suffix(", published")], axis=1)
    large = [name for name in both.index if name not in small]
    columns = {
        f"{len(both)} sets": both.mean(skipna=False),
        f"{len(large)} of 1,000 rows or more": both.loc[large].mean(skipna=False),
    }
    board = pandas.DataFrame(columns).sort_values(f"{len(both)} sets", ascending=False, na_position="last")
    if not calibration.holds:
        # Two blocks, one after the other: whoever is above in one says nothing about the other.
        here = [name.endswith(", run here") for name in board.index]
        board = pandas.concat([board[here], board[[not one for one in here]]])
    label = described(metric).label
    rows = [
        [escape_markdown(name), *(_cell(value) for value in row)]
        for name, row in zip(board.index, board.to_numpy(), strict=True)
    ]
    shown = [
        *(f"{name}, run here" for name in ours.columns),
        *(f"{name}, published" for name in ("kNN", "IForest", "DTE-NP", "DTE-C")),
    ]
    by_set = [[escape_markdown(name), *(_cell(both.loc[name, column]) for column in shown)] for name in both.index]
    return [
        f"### {label}, mean in per cent{'' if calibration.holds else '; two tables in one, not a ranking'}",
        "",
        pipe_table(["", *board.columns], rows),
        "",
        f"### {label} on every data set",
        "",
        pipe_table(["Data set", *shown], by_set),
    ]


def _cell(value: float) -> str:
    return "×" if value != value else number(value, 1)
