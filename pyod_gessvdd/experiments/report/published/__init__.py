"""Published figures next to a run's own, marked as such, and in one ranking only if the protocol reproduces them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.metrics import described
from pyod_gessvdd.experiments.report.formats import number
from pyod_gessvdd.experiments.report.markdown import escape_markdown, pipe_table
from pyod_gessvdd.experiments.statistics.ranks import means, of_setting
from pyod_gessvdd.extras import need

if TYPE_CHECKING:
    import pandas as pd

    from pyod_gessvdd.experiments.result import ComparisonResult

#: PyOD's detectors that show whether a protocol is the published one.
CALIBRATORS = ("KNN", "IForest", "OCSVM", "ECOD")
#: So many points of a per cent a mean may differ from the published one.
ALLOWED = 1.0
#: Sets with fewer rows are drawn up to this many in both protocols, so that copies of judged rows are trained on.
FEW_ROWS = 1_000
#: The columns of a file of figures that are no methods, and what they are if they are missing.
COLUMNS = {"dataset": None, "metric": "roc_auc", "setting": "unsupervised"}


@dataclass(frozen=True)
class Publication:
    """The figures of a publication.

    Attributes
    ----------
    source : str
        Where they are from.
    table : DataFrame
        In per cent, a column for each method, and the columns ``dataset``, ``metric`` and ``setting``.
    calibration : dict
        By setting, PyOD's detectors that both have, and what the publication calls them.
    shown : tuple of str
        The methods that are shown for every data set.
    """

    source: str
    table: pd.DataFrame
    calibration: dict[str, dict[str, str]]
    shown: tuple[str, ...]

    @classmethod
    def dte(cls) -> Publication:
        """26 methods on ADBench's 57 sets, as published with DTE."""
        pandas = need("pandas", "compare", "published figures")
        with files(__package__).joinpath("dte.csv").open(encoding="utf-8") as lines:
            table = pandas.read_csv(lines)
        others = {"IForest": "IForest", "OCSVM": "OCSVM", "ECOD": "ECOD"}
        return cls(
            'The published figures are those of DTE (V. Livernoche et al., "On diffusion modeling for anomaly '
            'detection", ICLR 2024), means over five seeds. Its F1, which flags as many rows as there are outliers, is '
            "the precision at n. They were read from the tables kept in the public repository A-Chicharito-S/FoMo-0D.",
            table,
            # Its kNN has 5 neighbours, PyOD's default, in the semi-supervised setting; in the other one 32 reproduce
            # it: within 0.5 on each of eight sets, where 5 neighbours are up to 16 off.
            {"dte_semi": {"KNN": "kNN", **others}, "dte_unsupervised": {"KNN(n_neighbors=32)": "kNN", **others}},
            ("kNN", "IForest", "DTE-NP", "DTE-C"),
        )

    @classmethod
    def read(cls, path: Path) -> Publication:
        """The figures in a CSV file: a column ``dataset``, one for each method, and perhaps ``metric`` and ``setting``.

        Figures that are all at most 1 are shares, others per cent.
        """
        pandas = need("pandas", "compare", "published figures")
        try:
            table = pandas.read_csv(path)
        except (OSError, ValueError) as problem:
            raise ComparisonError(f"{path} could not be read as a CSV file of published figures: {problem}") from None
        methods = [str(name) for name in table.columns if name not in COLUMNS]
        if "dataset" not in table or not methods:
            raise ComparisonError(
                f"{path} must have a column 'dataset' and a column for each method, got {', '.join(table.columns)}"
            )
        for name in methods:
            wrong = pandas.to_numeric(table[name], errors="coerce").isna() & table[name].notna()
            if wrong.any():
                raise ComparisonError(f"{path} must hold numbers, but {name!r} has {table.loc[wrong, name].iloc[0]!r}")
        missing = {name: value for name, value in COLUMNS.items() if name not in table}
        figures = table[methods].astype(float)
        if float(figures.max().max()) <= 1.0:
            table = table.assign(**100.0 * figures)
        theirs = {name.lower(): name for name in methods}
        calibration = {name: theirs[name.lower()] for name in CALIBRATORS if name.lower() in theirs}
        table = table.assign(dataset=[plain_name(str(name)) for name in table["dataset"]], **missing)
        return cls(
            f"The published figures are those of {path.name}.",
            table,
            dict.fromkeys(table["setting"].unique(), calibration),
            tuple(methods),
        )

    def figures(self, setting: str, metric: str) -> pd.DataFrame:
        """The figures in per cent, data sets (in lower case, without ADBench's number) by methods."""
        wanted = self.table[(self.table["setting"] == setting) & (self.table["metric"] == metric)]
        return wanted.set_index("dataset").drop(columns=["setting", "metric"])

    def beside(self, result: ComparisonResult, setting: str, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Our figures in per cent and the published ones, on the data sets that both have."""
        ours = 100 * means(of_setting(result.table, setting), metric)
        ours.index = [plain_name(name) for name in ours.index]
        published = self.figures(setting, metric)
        shared = [name for name in ours.index if name in published.index]
        return ours.loc[shared], published.loc[shared]

    def calibrate(self, result: ComparisonResult, setting: str, metric: str = "roc_auc") -> Calibration:
        """Compare PyOD's detectors run here with their published figures, on the data sets that both have."""
        pandas = need("pandas", "compare", "published figures")
        ours, published = self.beside(result, setting, metric)
        rows = {}
        for name, theirs in self.calibration[setting].items():
            if name in ours and ours[name].notna().any():
                done = ours[name].notna()
                rows[name] = (ours.loc[done, name].mean(), published.loc[done, theirs].mean())
        table = pandas.DataFrame.from_dict(rows, orient="index", columns=["ours", "published"])
        return Calibration(
            tuple(self.calibration[setting]), table.assign(difference=table["ours"] - table["published"])
        )

    def report(self, result: ComparisonResult) -> str:
        """Own and published figures side by side in Markdown, a section per setting and metric; a failure is a ×."""
        parts = ["# Own figures compared with the published ones", "", self.source]
        small = {plain_name(row["name"]) for row in result.datasets.to_dict("records") if row["n_rows"] < FEW_ROWS}
        for setting in self.settings_of(result):
            calibration = self.calibrate(result, setting)
            parts += ["", f"## {setting}", "", calibration.sentence]
            asked = result.meta.get("arguments", {}).get("metrics", [])
            for metric in [name for name in asked if not self.figures(setting, name).empty]:
                parts += ["", *self._section(result, setting, metric, calibration, small)]
        return "\n".join(parts) + "\n"

    def settings_of(self, result: ComparisonResult) -> list[str]:
        """The settings of a run that there are figures for."""
        return [setting for setting in result.table["setting"].unique() if setting in self.calibration]

    def _section(
        self, result: ComparisonResult, setting: str, metric: str, calibration: Calibration, small: set[str]
    ) -> list[str]:
        pandas = need("pandas", "compare", "published figures")
        ours, published = self.beside(result, setting, metric)
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
        shown = [*(f"{name}, run here" for name in ours.columns), *(f"{name}, published" for name in self.shown)]
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


@dataclass(frozen=True)
class Calibration:
    """How far a protocol is from the published figures: by detector the two means in per cent, over the same sets.

    Attributes
    ----------
    wanted : tuple of str
        PyOD's detectors that the publication has.
    means : DataFrame
        By detector ``ours``, ``published`` and ``difference``; empty if none of them was run.
    """

    wanted: tuple[str, ...]
    means: pd.DataFrame

    @property
    def holds(self) -> bool:
        """Whether all of them were run and each mean is within a point of the published one."""
        is_near = bool((self.means["difference"].abs() <= ALLOWED).all())
        return bool(self.wanted) and set(self.means.index) == set(self.wanted) and is_near

    @property
    def sentence(self) -> str:
        """What it says."""
        wanted = ", ".join(self.wanted)
        if not wanted:
            return (
                f"Not calibrated: none of {', '.join(CALIBRATORS)} was published, so nothing is ranked with the "
                "published figures."
            )
        if self.means.empty:
            return f"Not calibrated: none of {wanted} was run, so nothing is ranked with the published figures."
        told = ", ".join(f"{name} {row.ours:.1f} ({row.difference:+.1f})" for name, row in self.means.iterrows())
        verdict = (
            "each within a point: published and own figures may be read as one ranking"
            if self.holds
            else f"not all of {wanted} within a point, so published and own figures are not put in one ranking"
        )
        return f"Calibration, mean in per cent and its difference from the published one: {told}; {verdict}."


def plain_name(dataset: str) -> str:
    """``6_cardio`` as publications have it: ``cardio``."""
    head, _, tail = dataset.partition("_")
    return (tail if head.isdigit() and tail else dataset).lower()


def _cell(value: float) -> str:
    return "×" if value != value else number(value, 1)
