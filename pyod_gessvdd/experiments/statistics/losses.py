"""Where a detector loses: against the best other on every data set, and what the data sets of its losses share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyod_gessvdd.experiments.statistics.bayes import ROPE
from pyod_gessvdd.experiments.statistics.ranks import means, of_setting, rank, signed

if TYPE_CHECKING:
    import pandas as pd

    from pyod_gessvdd.experiments.result import ComparisonResult

#: The traits of a data set and what readers call them.
LABELS = {
    "n_rows": "rows",
    "n_features": "columns",
    "contamination": "share of outliers",
    "repeated": "share of repeated rows",
    "discrete": "share of discrete columns",
    "skewness": "median |skewness|",
}


def subject_of(result: ComparisonResult, metric: str, setting: str | None = None) -> str:
    """Whose losses are looked at: the best-ranked detector of this package, or the best-ranked of all."""
    board = rank(of_setting(result.table, setting), metric)["detector"]
    classes = dict(zip(result.detectors["name"], result.detectors["class"], strict=True))
    ours = [name for name in board if str(classes.get(name, "")).startswith("pyod_gessvdd:")]
    return str([*ours, *board][0])


def against_the_best_other(
    result: ComparisonResult, metric: str = "roc_auc", setting: str | None = None, subject: str | None = None
) -> pd.DataFrame:
    """A row per data set that the subject and another finished, the largest loss first.

    Parameters
    ----------
    result : ComparisonResult
        The run.
    metric : str, default="roc_auc"
        What to compare.
    setting : str, optional
        Needed if the run holds several.
    subject : str, optional
        The detector; :func:`subject_of` chooses unless given. Others of the same class are not counted as others.

    Returns
    -------
    DataFrame
        By data set: ``own``, ``other`` (the name), ``best`` (its figure), ``difference`` (positive where the subject
        is better), and the traits of the data, as far as the run holds them.
    """
    subject = subject or subject_of(result, metric, setting)
    values = means(result.table, metric, setting)
    class_of = dict(zip(result.detectors["name"], result.detectors["class"], strict=True))
    others = [name for name in values if class_of[name] != class_of[subject]]
    upward = signed(values, metric)
    known = values[subject].notna() & values[others].notna().any(axis=1)
    upward = upward[known]
    names = upward[others].idxmax(axis=1)
    table = values.loc[known, [subject]].rename(columns={subject: "own"})
    table["other"] = names
    table["best"] = [values.loc[dataset, name] for dataset, name in names.items()]
    table["difference"] = upward[subject] - upward[others].max(axis=1)
    about = result.datasets.set_index("name")
    about = about.assign(contamination=about["n_outliers"] / about["n_rows"])
    table = table.join(about[[name for name in LABELS if name in about and about[name].notna().any()]])
    return table.sort_values("difference", kind="stable")


def common_traits(table: pd.DataFrame, rope: float = ROPE) -> list[str]:
    """What the data sets with losses have in common, in sentences: medians there and elsewhere, where they differ.

    A trait is told if Mann and Whitney's test sees a difference at the level 0.05 between the two groups.
    """
    from scipy.stats import mannwhitneyu

    lost = table["difference"] < -rope
    if lost.sum() < 3 or (~lost).sum() < 3:
        return []
    sentences = []
    for name in (name for name in LABELS if name in table):
        there, elsewhere = table.loc[lost, name].dropna(), table.loc[~lost, name].dropna()
        if len(there) and len(elsewhere) and mannwhitneyu(there, elsewhere).pvalue < 0.05:
            sentences.append(
                f"{LABELS[name]}: median {there.median():.3g} where it loses, {elsewhere.median():.3g} elsewhere"
            )
    return sentences
