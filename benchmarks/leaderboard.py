"""Tables of detectors and goals, in Markdown, from the fits that ``benchmarks/quality.py`` stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pyod_gessvdd.experiments.report.formats import number
from pyod_gessvdd.experiments.report.markdown import pipe_table


def per_set(fits: pd.DataFrame, column: str, statistic: str = "mean") -> pd.DataFrame:
    """Sets by detectors, a statistic over the seeds, without the sets that nobody could be judged on."""
    by_set = fits.groupby(["collection", "dataset", "detector"])[column].agg(statistic)
    return by_set.unstack().dropna(how="all").droplevel("collection")


def ranks(values: pd.DataFrame) -> pd.DataFrame:
    """The detectors' places on each set; who failed is last."""
    return values.rank(axis=1, ascending=False, na_option="bottom")


def leaderboard(
    fits: pd.DataFrame, roc: str, second: str, groups: Mapping[str, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """Detectors by mean ROC-AUC, over everything and over each group of sets."""
    board = pd.DataFrame(index=fits["detector"].unique())
    for name, part in {"": fits, **(groups or {})}.items():
        values, start = per_set(part, roc), f"{name} ".lstrip()
        board[f"{start}ROC-AUC"] = values.mean()
        if not name:
            board["±"] = values.sub(values[values.mean().idxmax()], axis=0).sem()
        board[f"{start}{'AP' if second.endswith('ap') else 'precision@n'}"] = per_set(part, second).mean()
        board[f"{start}rank"] = ranks(values).mean()
    by_detector = fits.groupby("detector")
    board["fit (s)"], board["failed"] = by_detector["fit_seconds"].mean(), by_detector["failure"].count()
    return board.sort_values("ROC-AUC", ascending=False)


def table(title: str, frame: pd.DataFrame) -> str:
    """The frame in Markdown: four decimals, two for ranks and seconds."""
    decimals = [0 if name == "failed" else 2 if name.endswith(("rank", "(s)")) else 4 for name in frame.columns]
    rows = [[str(name), *map(number, row, decimals)] for name, row in zip(frame.index, frame.to_numpy(), strict=True)]
    return f"{title}\n\n{pipe_table(['', *frame.columns], rows)}"


def goal(what: str, values: Any, low: float, high: float = np.inf) -> str:
    """Whether a value, or each of a series, lies between two bounds."""
    values = pd.Series(values, dtype=float)
    reached = "reached" if values.between(low, high).all() else "**not reached**"
    figures = " to ".join(f"{values[i]:.4f} ({i})" for i in (values.idxmin(), values.idxmax()))
    wanted = f"at least {low}" if high == np.inf else f"between {low} and {high}"
    return f"- {reached}: {what}, {wanted}: {figures if len(values) > 1 else f'{values[0]:.4f}'}"


def first(what: str, values: pd.DataFrame, ours: str, margin: float = 0.0) -> str:
    """The goal to lead every detector that is not ours by a margin, each on the sets that it finished.

    Where ours failed it counts as the worst of all on that set: a failure must not improve a mean.
    """
    values = values.assign(**{ours: values[ours].fillna(values.min(axis=1))})
    others = values[[name for name in values.columns if not name.startswith("GESSVDD")]]
    leads = others.rsub(values[ours], axis=0)
    best = leads.mean().idxmin()
    own, other = values[[ours, best]].dropna().abs().mean()
    figures = f"`{ours}` ({own:.4f}) before {best} ({other:.4f}), ± {leads[best].sem():.4f}"
    return goal(f"{what}: {figures}", leads[best].mean(), margin)
