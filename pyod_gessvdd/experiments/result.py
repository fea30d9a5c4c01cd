"""What a comparison found: the tidy table, and what is made of it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.run.job import COUNTS, TEXT
from pyod_gessvdd.experiments.run.job import columns as job_columns
from pyod_gessvdd.experiments.store import Store
from pyod_gessvdd.extras import need
from pyod_gessvdd.tabular.formulas import defused_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from pyod_gessvdd.experiments.statistics.significance import Significance


class ComparisonResult:
    """The results in a run folder.

    Parameters
    ----------
    folder : path-like
        The run folder.

    Attributes
    ----------
    table : DataFrame
        A row per job: dataset, detector, setting, seed, status, the metrics, times and counts, and the error if any.
    datasets, detectors : DataFrame
        What was compared.
    meta : dict
        Schema, versions, machine, arguments.
    folder : str
        The run folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        store = Store(folder)
        try:
            self.meta = store.meta()
            self.table = _frame(store, "jobs", "warnings")
            self.datasets = _frame(store, "datasets")
            self.detectors = _frame(store, "detectors", "parameters")
        finally:
            store.close()

    def __repr__(self) -> str:
        board = self._boards()
        return f"{self._head()}\n{board.to_string(index=False)}" if len(board) else self._head()

    def _repr_html_(self) -> str:
        from markupsafe import escape

        board = self._boards()
        return f"<p>{escape(self._head())}</p>" + (board.to_html(index=False) if len(board) else "")

    def _head(self) -> str:
        failed = int((self.table["status"] != "done").sum())
        what = f"{len(self.detectors)} detectors, {len(self.datasets)} data sets, {len(self.table)} jobs"
        return f"{what}, {failed} of which failed" if failed else what

    def _boards(self) -> pd.DataFrame:
        """The leaderboard as it is shown: the metrics that were measured, with ± over the seeds."""
        from pyod_gessvdd.experiments.metrics import described
        from pyod_gessvdd.experiments.report.formats import number, seconds, with_deviation
        from pyod_gessvdd.experiments.statistics.ranks import measured

        names = measured(self.table)
        if not names:
            return self.table.head(0)
        board = self.rank(names[0])
        shown = board[["setting", "detector"]].copy()
        for name in names:
            record = described(name)
            pairs = zip(board[name], board[f"{name}_sd"], strict=True)
            shown[record.label] = [with_deviation(*pair, record.decimals) for pair in pairs]
        shown["rank"] = [number(value, 2) for value in board["mean_rank"]]
        shown["fit"] = [seconds(value) for value in board["fit_seconds"]]
        return shown

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> ComparisonResult:
        """The results in a run folder."""
        return cls(folder)

    def scores(self, dataset: str, detector: str, setting: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The test rows' labels and scores of one job."""
        store = Store(self.folder)
        try:
            return store.scores((dataset, detector, setting, int(seed)))
        finally:
            store.close()

    def rank(self, metric: str = "roc_auc", setting: str | None = None) -> pd.DataFrame:
        """A row per detector: the means of the metrics, the mean rank over the data sets, wins, times and failures."""
        from pyod_gessvdd.experiments.statistics import ranks

        return ranks.rank(self.table, metric, setting)

    def significance(self, metric: str = "roc_auc", setting: str | None = None) -> Significance:
        """Friedman's test, Nemenyi's critical difference and pairwise Wilcoxon tests over the data sets."""
        from pyod_gessvdd.experiments.statistics import significance

        return significance.significance(self.table, metric, setting)

    def plot_heatmap(self, **options: Any) -> Figure:
        """Data sets against detectors."""
        from pyod_gessvdd.experiments.report import figures

        return figures.heatmap(self, **options)

    def plot_critical_difference(self, **options: Any) -> Figure:
        """The mean ranks, with bars over those that do not differ significantly."""
        from pyod_gessvdd.experiments.report import figures

        return figures.critical_difference(self, **options)

    def plot_quality_against_time(self, **options: Any) -> Figure:
        """What a detector reaches against what it costs."""
        from pyod_gessvdd.experiments.report import figures

        return figures.quality_against_time(self, **options)

    def plot_curves(self, dataset: str, **options: Any) -> Figure:
        """The ROC and precision-recall curves on one data set."""
        from pyod_gessvdd.experiments.report import figures

        return figures.curves(self, dataset, **options)

    def plot_scores(self, dataset: str, **options: Any) -> Figure:
        """How the scores of normal rows and outliers are distributed on one data set."""
        from pyod_gessvdd.experiments.report import figures

        return figures.score_distributions(self, dataset, **options)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as one self-contained page, written to ``path`` if given."""
        from pyod_gessvdd.experiments.report import page as report

        return report.to_html(self, path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report in Markdown, written to ``path`` if given."""
        from pyod_gessvdd.experiments.report import page as report

        return report.to_markdown(self, path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """The table without the tracebacks; warnings are separated by " | "."""
        flat = self.table.drop(columns="traceback")
        flat["warnings"] = [" | ".join(entries) for entries in flat["warnings"]]
        defused_frame(flat).to_csv(path, index=False)


def _frame(store: Store, name: str, json_column: str | None = None) -> pd.DataFrame:
    pandas = need("pandas", "compare", "a comparison's table")
    columns, rows = store.table(name)
    frame = pandas.DataFrame(rows, columns=columns)
    if json_column:
        try:
            frame[json_column] = [json.loads(text) for text in frame[json_column]]
        except (TypeError, ValueError) as error:
            raise ComparisonError(f"the database in {store.folder} is damaged: {error}") from error
    if name == "jobs":
        for name in job_columns(store.meta()["arguments"].get("metrics", ())):
            if name not in frame:  # a run of an earlier version
                frame[name] = np.nan
            elif name not in (*TEXT, *COUNTS, "seed"):
                # Without a single figure a column of NULLs would be one of objects.
                frame[name] = frame[name].astype(float)
    return frame
