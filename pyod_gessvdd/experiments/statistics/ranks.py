"""Means, deviations, ranks and wins.

Everything is a mean over the seeds first and over the data sets second, so that each data set counts once. A data set
counts for a detector only if all its seeds are done: the others would be measured on other splits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.metrics import described, known_metrics

if TYPE_CHECKING:
    import pandas as pd

#: Differences below this are ties; without it 0.9 - 0.8 and 0.8 - 0.7 would have different ranks.
DECIMALS = 12


def metric_columns(table: pd.DataFrame) -> list[str]:
    """The metrics that are columns of the table, in the order of the catalogue."""
    return [name for name in known_metrics() if name in table]


def measured(table: pd.DataFrame) -> list[str]:
    """The metrics that the run has values of."""
    return [name for name in metric_columns(table) if table[name].notna().any()]


def of_setting(table: pd.DataFrame, setting: str | None) -> pd.DataFrame:
    """The jobs of one setting; None means the only one there is."""
    settings = list(table["setting"].unique())
    if setting is None and len(settings) == 1:
        return table
    if setting not in settings:
        asked = "no setting was given" if setting is None else f"setting {setting!r} is not in this run"
        raise ComparisonError(f"{asked}; it holds {' and '.join(map(repr, settings)) or 'no jobs'}: name one of them")
    return table[table["setting"] == setting]


def means(table: pd.DataFrame, column: str, setting: str | None = None) -> pd.DataFrame:
    """Mean over the seeds: data sets down, detectors across, NaN where a seed is not done.

    Parameters
    ----------
    table : DataFrame
        The jobs.
    column : str
        A metric or a time.
    setting : str, optional
        Needed if the table holds several.
    """
    rows = of_setting(table, setting)
    return _grid(rows, _by_cell(rows, [column]).mean()[column])


def deviations(table: pd.DataFrame, column: str, setting: str | None = None) -> pd.DataFrame:
    """Standard deviation over the seeds, as :func:`means`; NaN where there is one seed."""
    rows = of_setting(table, setting)
    return _grid(rows, _by_cell(rows, [column]).std()[column])


def _grid(rows: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    return values.unstack("detector").reindex(index=rows["dataset"].unique(), columns=rows["detector"].unique())


def _by_cell(rows: pd.DataFrame, columns: list[str]) -> pd.core.groupby.DataFrameGroupBy:
    """Grouped by data set and detector, NaN throughout where a seed is not done."""
    key = [rows["dataset"], rows["detector"]]
    values = rows[columns].where(rows["status"] == "done")
    n_seeds = rows.groupby("dataset")["seed"].nunique()
    complete = values.groupby(key).transform("count").eq(rows["dataset"].map(n_seeds), axis=0)
    return values.where(complete).groupby(key)


def ranks(table: pd.DataFrame, metric: str, setting: str | None = None) -> pd.DataFrame:
    """Rank of each detector (1 is the best) in each data set that every detector was tried on.

    Ties share their mean rank; detectors that failed share the last ranks. A data set whose jobs are not all run yet
    is left out, as is one on which every detector failed.
    """
    rows = of_setting(table, setting)
    values = signed(means(rows, metric), metric).round(DECIMALS)
    jobs = rows.groupby("dataset").size()
    expected = rows.groupby("dataset")["seed"].nunique() * rows["detector"].nunique()
    tried = (jobs == expected).reindex(values.index)
    values = values[tried & values.notna().any(axis=1)]
    return values.fillna(-np.inf).rank(axis=1, ascending=False, method="average")


def signed(values: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The values so that more is better."""
    return values if described(metric).higher_is_better else -values


def rank(table: pd.DataFrame, metric: str = "roc_auc", setting: str | None = None) -> pd.DataFrame:
    """The leaderboard: one row per setting and detector, the best mean rank first.

    Parameters
    ----------
    table : DataFrame
        The jobs.
    metric : str, default="roc_auc"
        What the ranks and wins are of.
    setting : str, optional
        Only this one; settings are never mixed in one mean.

    Returns
    -------
    DataFrame
        setting, detector, the mean of each metric and of fit_seconds and score_seconds over the data sets that it
        finished, mean_rank, wins (data sets in which no detector was better; ties count for all of them), finished and
        tried (data sets), failures (jobs that failed or exceeded the time limit), and of each metric ``…_sd``, the
        standard deviation of its mean over the seeds.
    """
    import pandas as pd

    check_metric(table, metric)
    settings = table["setting"].unique() if setting is None else [setting]
    boards = [_leaderboard(of_setting(table, one), metric).assign(setting=one) for one in settings]
    if not boards:
        raise ComparisonError("the run holds no finished jobs to rank")
    board = pd.concat(boards, ignore_index=True)
    return board[["setting", *board.columns.drop("setting")]]


def _leaderboard(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    import pandas as pd

    names = metric_columns(rows)
    rank_of = ranks(rows, metric)
    cells = _by_cell(rows, [*names, "fit_seconds", "score_seconds"]).mean().groupby("detector")
    mean = cells.mean()
    board = pd.DataFrame(
        {
            **{column: mean[column] for column in names},
            "mean_rank": rank_of.mean(),
            "wins": rank_of.eq(rank_of.min(axis=1), axis=0).sum(),
            "fit_seconds": mean["fit_seconds"],
            "score_seconds": mean["score_seconds"],
            "finished": cells["fit_seconds"].count(),
            "tried": rows.groupby("detector")["dataset"].nunique(),
            "failures": rows["status"].ne("done").groupby(rows["detector"]).sum(),
            **{f"{column}_sd": _deviation_of_the_mean(rows, column) for column in names},
        },
        index=rank_of.columns,
    )
    board = board.rename_axis("detector").reset_index()
    is_up = described(metric).higher_is_better
    return board.sort_values(["mean_rank", metric], ascending=[True, not is_up], kind="stable", ignore_index=True)


def _deviation_of_the_mean(rows: pd.DataFrame, column: str) -> pd.Series:
    """By detector: for each seed the mean over the data sets that it finished, and of these the deviation."""
    finished = rows.assign(value=_by_cell(rows, [column])[column].transform("first").where(rows["status"] == "done"))
    finished = finished[finished["value"].notna()]
    by_seed = finished.groupby(["detector", "seed"])[column].mean()
    return by_seed.groupby("detector").std()


def check_metric(table: pd.DataFrame, metric: str) -> None:
    """Refuse a metric that the table has no column of."""
    if metric not in metric_columns(table):
        raise ComparisonError(f"unknown metric {metric!r}; the metrics are {', '.join(metric_columns(table))}")
