"""What the jobs say together: means, ranks, wins, and which differences are more than chance.

Everything is a mean over the seeds first and over the data sets second, so that each data set counts once. A data set
counts for a detector only if all its seeds are done: the others would be measured on other splits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.errors import ComparisonError

if TYPE_CHECKING:
    import pandas as pd

#: The metrics of a job, as columns of the table and as a reader calls them. More is better for all.
METRIC_NAMES = {
    "roc_auc": "ROC-AUC",
    "average_precision": "Average precision",
    "precision_at_n": "Precision@n",
    "gmean": "Gmean",
}

#: What a detector that knows nothing reaches; the heat map's colours begin there. Three of them depend on the data.
FLOORS = {"roc_auc": 0.5, "average_precision": 0.0, "precision_at_n": 0.0, "gmean": 0.0}

#: Differences below this are ties; without it 0.9 - 0.8 and 0.8 - 0.7 would have different ranks.
DECIMALS = 12


@dataclass(frozen=True)
class Significance:
    """Which detectors differ over the data sets, after Demšar (2006).

    Attributes
    ----------
    metric, setting : str
        What was compared.
    n_datasets : int
        The data sets that the ranks are over.
    mean_ranks : Series
        By detector, the best first; a failure ranks last in its data set, ties share their mean rank.
    reason : str
        Why Friedman's and Nemenyi's tests could not be made, in one sentence; empty if they could.
    friedman_statistic, friedman_p : float or None
        Friedman's test that all detectors are equal.
    critical_difference : float or None
        Mean ranks that lie further apart differ at the level ``alpha`` (Nemenyi).
    nemenyi : DataFrame or None
        Nemenyi's p value of every pair of detectors.
    wilcoxon : DataFrame
        A row per pair: ``a``, ``b``, ``better`` (of the two, empty for a draw), ``T`` (the smaller sum of signed
        ranks), ``p`` (two-sided, exact), ``p_holm`` (Holm's correction over all pairs) and ``n`` (data sets that both
        finished).
    alpha : float
        The level of the tests.
    """

    metric: str
    setting: str
    n_datasets: int
    mean_ranks: pd.Series
    reason: str
    friedman_statistic: float | None
    friedman_p: float | None
    critical_difference: float | None
    nemenyi: pd.DataFrame | None
    wilcoxon: pd.DataFrame
    alpha: float = 0.05


def measured(table: pd.DataFrame) -> list[str]:
    """The metrics that the run has values of, in the order of :data:`METRIC_NAMES`."""
    return [metric for metric in METRIC_NAMES if metric in table and table[metric].notna().any()]


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
    grid = _seed_means(rows, [column])[column].unstack("detector")
    return grid.reindex(index=rows["dataset"].unique(), columns=rows["detector"].unique())


def _seed_means(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """By data set and detector the mean of each column over the seeds, NaN where a seed is not done."""
    done = rows[columns].where(rows["status"] == "done").assign(dataset=rows["dataset"], detector=rows["detector"])
    cells = done.groupby(["dataset", "detector"])
    n_seeds = rows.groupby("dataset")["seed"].nunique()
    wanted = n_seeds.loc[cells.count().index.get_level_values("dataset")].to_numpy()
    return cells.mean().where(cells.count().eq(wanted, axis=0))


def ranks(table: pd.DataFrame, metric: str, setting: str | None = None) -> pd.DataFrame:
    """Rank of each detector (1 is the best) in each data set that every detector was tried on.

    Ties share their mean rank; detectors that failed share the last ranks. A data set whose jobs are not all run yet
    is left out, as is one on which every detector failed.
    """
    rows = of_setting(table, setting)
    values = means(rows, metric).round(DECIMALS)
    jobs = rows.groupby("dataset").size()
    expected = rows.groupby("dataset")["seed"].nunique() * rows["detector"].nunique()
    tried = (jobs == expected).reindex(values.index)
    values = values[tried & values.notna().any(axis=1)]
    return values.fillna(-np.inf).rank(axis=1, ascending=False, method="average")


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
        tried (data sets), failures (jobs that failed or passed the time limit).
    """
    import pandas as pd

    _check(metric)
    settings = table["setting"].unique() if setting is None else [setting]
    boards = [_leaderboard(of_setting(table, one), metric).assign(setting=one) for one in settings]
    if not boards:
        raise ComparisonError("the run holds no finished jobs to rank")
    board = pd.concat(boards, ignore_index=True)
    return board[["setting", *board.columns.drop("setting")]]


def _leaderboard(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    import pandas as pd

    rank_of = ranks(rows, metric)
    cells = _seed_means(rows, [*METRIC_NAMES, "fit_seconds", "score_seconds"]).groupby("detector")
    mean = cells.mean()
    by_detector = rows.groupby("detector")
    board = pd.DataFrame(
        {
            **{column: mean[column] for column in METRIC_NAMES},
            "mean_rank": rank_of.mean(),
            "wins": rank_of.eq(rank_of.min(axis=1), axis=0).sum(),
            "fit_seconds": mean["fit_seconds"],
            "score_seconds": mean["score_seconds"],
            "finished": cells["fit_seconds"].count(),
            "tried": by_detector["dataset"].nunique(),
            "failures": rows["status"].ne("done").groupby(rows["detector"]).sum(),
        },
        index=rank_of.columns,
    )
    board = board.rename_axis("detector").reset_index()
    return board.sort_values(["mean_rank", metric], ascending=[True, False], kind="stable", ignore_index=True)


def significance(
    table: pd.DataFrame, metric: str = "roc_auc", setting: str | None = None, alpha: float = 0.05
) -> Significance:
    """Friedman's test with Nemenyi's critical difference, and Wilcoxon's signed-rank test of every pair.

    Parameters
    ----------
    table : DataFrame
        The jobs.
    metric : str, default="roc_auc"
        What to compare.
    setting : str, optional
        Needed if the table holds several.
    alpha : float, default=0.05
        The level of the tests.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
    """
    _check(metric)
    rows = of_setting(table, setting)
    rank_of = ranks(rows, metric)
    mean_ranks = rank_of.mean().sort_values(kind="stable")
    n_datasets, n_detectors = rank_of.shape
    friedman: tuple[float | None, float | None] = (None, None)
    reason, difference, nemenyi = "", None, None
    if n_detectors < 3 or n_datasets < 2:
        reason = (
            "Friedman's test needs at least 3 detectors and 2 data sets that all of them were tried on; "
            f"here are {n_detectors} and {n_datasets}."
        )
    else:
        friedman = _friedman(rank_of)
        difference = _critical_difference(n_detectors, n_datasets, alpha)
        nemenyi = _nemenyi(rank_of[mean_ranks.index])
    return Significance(
        metric=metric,
        setting=str(rows["setting"].iloc[0]),
        n_datasets=n_datasets,
        mean_ranks=mean_ranks,
        reason=reason,
        friedman_statistic=friedman[0],
        friedman_p=friedman[1],
        critical_difference=difference,
        nemenyi=nemenyi,
        wilcoxon=_wilcoxon(means(rows, metric)[mean_ranks.index]),
        alpha=alpha,
    )


def _check(metric: str) -> None:
    if metric not in METRIC_NAMES:
        raise ComparisonError(f"unknown metric {metric!r}; the metrics are {', '.join(METRIC_NAMES)}")


def _friedman(rank_of: pd.DataFrame) -> tuple[float, float]:
    from scipy.stats import friedmanchisquare

    if rank_of.nunique(axis=1).eq(1).all():  # scipy divides 0 by 0
        return 0.0, 1.0
    result = friedmanchisquare(*rank_of.to_numpy().T)
    return float(result.statistic), float(result.pvalue)


def _critical_difference(n_detectors: int, n_datasets: int, alpha: float) -> float:
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - alpha, n_detectors, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_detectors * (n_detectors + 1) / (6 * n_datasets)))


def _nemenyi(rank_of: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd
    from scikit_posthocs import posthoc_nemenyi_friedman

    p = posthoc_nemenyi_friedman(rank_of.to_numpy())
    return pd.DataFrame(np.asarray(p), index=rank_of.columns, columns=rank_of.columns)


def _wilcoxon(values: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for a, b in combinations(values.columns, 2):
        differences = (values[a] - values[b]).dropna().to_numpy().round(DECIMALS)
        for_a, for_b, p = _signed_ranks(differences)
        better = a if for_a > for_b else b if for_b > for_a else ""
        rows.append((a, b, better, min(for_a, for_b), p, len(differences)))
    pairs = pd.DataFrame(rows, columns=["a", "b", "better", "T", "p", "n"])
    tested = pairs["p"].dropna().sort_values()
    pairs["p_holm"] = (tested * np.arange(len(tested), 0, -1)).clip(upper=1).cummax()
    return pairs


def _signed_ranks(differences: np.ndarray) -> tuple[float, float, float]:
    """Both sums of Wilcoxon's signed ranks and the exact two-sided p value.

    The ranks of zero differences are split evenly, as Demšar does. scipy's p value is exact only without ties, and ties
    are common here (two detectors that both reach 1.0), hence the distribution of the sum under random signs is made
    by adding one rank after the other, doubled so that the half ranks of ties are whole.
    """
    from scipy.stats import rankdata

    if len(differences) == 0:
        return np.nan, np.nan, np.nan
    rank_of = rankdata(np.abs(differences))
    split = rank_of[differences == 0].sum() / 2
    plus, minus = (float(rank_of[sign * differences > 0].sum() + split) for sign in (1, -1))
    doubled = (2 * rank_of[differences != 0]).astype(int)
    chance = np.zeros(doubled.sum() + 1)
    chance[0] = 1.0
    for step in doubled:
        chance[step:] = chance[step:] + chance[:-step]
        chance /= 2
    tail = chance[: round(2 * (min(plus, minus) - split)) + 1].sum()
    return plus, minus, float(min(1.0, 2 * tail))
