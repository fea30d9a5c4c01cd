"""Which differences are more than chance: Friedman's and Nemenyi's tests, and Wilcoxon's of every pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from pyod_gessvdd.experiments.statistics.bayes import bayesian_signed_ranks
from pyod_gessvdd.experiments.statistics.ranks import DECIMALS, check_metric, means, of_setting, ranks, signed
from pyod_gessvdd.experiments.statistics.signed_ranks import LEVEL, signed_ranks

if TYPE_CHECKING:
    import pandas as pd


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
        ranks), ``p`` (two-sided, exact), ``n`` (data sets that both finished), ``wins`` and ``losses`` (of them, where
        ``a`` and where ``b`` is better) and ``p_holm`` (Holm's correction over all pairs).
    bayes : DataFrame
        A row per pair: ``a``, ``b`` and how likely it is that ``a`` is practically ``better``, that the two are
        ``equal`` (differences within 0.01), and that ``a`` is ``worse``.
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
    bayes: pd.DataFrame
    alpha: float = LEVEL


def significance(
    table: pd.DataFrame, metric: str = "roc_auc", setting: str | None = None, alpha: float = LEVEL
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
    check_metric(table, metric)
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
    values = signed(means(rows, metric), metric)[mean_ranks.index]
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
        wilcoxon=_wilcoxon(values),
        bayes=_bayes(values),
        alpha=alpha,
    )


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


def _bayes(values: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    pairs = [(a, b, *bayesian_signed_ranks((values[a] - values[b]).dropna())) for a, b in combinations(values, 2)]
    return pd.DataFrame(pairs, columns=["a", "b", "better", "equal", "worse"])


def _wilcoxon(values: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for a, b in combinations(values.columns, 2):
        differences = (values[a] - values[b]).dropna().to_numpy().round(DECIMALS)
        test = signed_ranks(differences)
        better = a if test.plus > test.minus else b if test.minus > test.plus else ""
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        rows.append((a, b, better, test.T, test.p, test.n, wins, losses))
    pairs = pd.DataFrame(rows, columns=["a", "b", "better", "T", "p", "n", "wins", "losses"])
    tested = pairs["p"].dropna().sort_values()
    pairs["p_holm"] = (tested * np.arange(len(tested), 0, -1)).clip(upper=1).cummax()
    return pairs
