"""Means, ranks and tests against slow, obvious formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.statistics.ranks import deviations, means, measured, rank, ranks
from pyod_gessvdd.experiments.statistics.significance import significance
from tests.experiments.runs import table_of

NAN = np.nan

#: Few different values, so that there are ties; NaN is a failure.
grids = st.tuples(st.integers(2, 6), st.integers(3, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, NAN]))
)


def one_seed(grid):
    return table_of(np.asarray(grid, dtype=float)[:, :, None])


# Means ----------------------------------------------------------------------------------------------------------------


def test_deviations_are_over_the_seeds_of_a_cell_and_of_the_mean_over_the_data_sets():
    values = [[[0.4, 0.6], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.3]]]
    table = table_of(values)
    spread = deviations(table, "roc_auc")
    assert spread.loc["set 0"].tolist() == [pytest.approx(0.02**0.5), 0.0]
    board = rank(table).set_index("detector")
    # The two sets' deviations cancel in the mean of D0 over them.
    assert board["roc_auc_sd"].loc[["D0", "D1"]].tolist() == pytest.approx([0.0, 0.02**0.5 / 2])
    assert np.isnan(rank(one_seed([[0.9, 0.8]]))["roc_auc_sd"]).all()


def test_a_metric_of_which_less_is_better_ranks_the_lowest_first(monkeypatch):
    record = Metric("roc_auc", "Error", lambda labels, scores: 0.0, higher_is_better=False)
    monkeypatch.setattr("pyod_gessvdd.experiments.statistics.ranks.described", lambda name: record)
    board = rank(one_seed([[0.9, 0.1, 0.5], [0.8, 0.2, 0.3]]))
    assert board["detector"].tolist() == ["D1", "D2", "D0"]
    pairs = significance(one_seed([[0.9, 0.1, 0.5], [0.8, 0.2, 0.3]])).wilcoxon
    assert (pairs["better"] == pairs["a"]).all()
    assert (pairs["wins"] == 2).all()


def test_means_are_over_the_seeds_first_and_over_the_data_sets_second():
    one = table_of([[[1.0], [0.0]]])
    three = table_of([[[0.4, 0.5, 0.6], [0.0, 0.0, 0.0]]]).assign(dataset="another")
    board = rank(pd.concat([one, three])).set_index("detector")
    assert board.loc["D0", "roc_auc"] == pytest.approx((1.0 + 0.5) / 2)


def test_a_data_set_counts_for_a_detector_only_if_all_its_seeds_are_done():
    table = table_of([[[0.9, NAN], [0.5, 0.5]], [[0.7, 0.7], [0.6, 0.6]]])
    assert np.isnan(means(table, "roc_auc").loc["set 0", "D0"])
    board = rank(table).set_index("detector")
    assert board.loc["D0", "roc_auc"] == pytest.approx(0.7)
    assert board.loc["D0", ["finished", "tried", "failures"]].tolist() == [1, 2, 1]
    assert board.loc["D1", ["finished", "tried", "failures"]].tolist() == [2, 2, 0]


def test_a_value_of_a_job_that_is_not_done_is_not_counted():
    table = one_seed([[0.9, 0.8, 0.7]])
    table.loc[0, "status"] = "timeout"
    assert np.isnan(means(table, "roc_auc").loc["set 0", "D0"])


def test_times_are_means_over_the_data_sets_that_were_finished():
    table = one_seed([[0.9, 0.8], [NAN, 0.8], [0.9, 0.8]])
    table.loc[(table["detector"] == "D0") & (table["dataset"] == "set 2"), "fit_seconds"] = 3.0
    board = rank(table).set_index("detector")
    assert board.loc["D0", "fit_seconds"] == pytest.approx(2.0)


def test_metrics_that_were_not_asked_for_are_not_measured():
    assert measured(one_seed([[0.9, 0.8]])) == ["roc_auc"]


# Ranks ----------------------------------------------------------------------------------------------------------------


def obvious_ranks(row):
    """1 + how many are better + half of the others that are as good; failures are worse than everything."""
    values = [-1.0 if np.isnan(value) else value for value in row]
    return [1 + sum(b > a for b in values) + (sum(b == a for b in values) - 1) / 2 for a in values]


@settings(deadline=None, max_examples=25)
@given(grids)
def test_ranks_are_the_obvious_ones_with_ties_shared_and_failures_last(grid):
    expected = [obvious_ranks(row) for row in grid if not np.isnan(row).all()]
    assert ranks(one_seed(grid), "roc_auc").to_numpy().tolist() == expected


@settings(deadline=None, max_examples=25)
@given(grids, st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_does_not_matter(grid, random):
    table = one_seed(grid)
    order = list(range(len(table)))
    random.shuffle(order)
    one, other = (rank(rows).set_index("detector").sort_index() for rows in (table, table.iloc[order]))
    pd.testing.assert_frame_equal(one, other)


def test_the_leaderboard_begins_with_the_best_mean_rank():
    # D1 has the higher mean, because D0 is far behind once; D0 has the better ranks.
    board = rank(one_seed([[0.9, 0.8, 0.1], [0.9, 0.8, 0.1], [0.2, 0.8, 0.1]]))
    assert board["detector"].tolist() == ["D0", "D1", "D2"]
    assert board["mean_rank"].tolist() == pytest.approx([4 / 3, 5 / 3, 3])
    assert board.loc[1, "roc_auc"] > board.loc[0, "roc_auc"]


def test_a_win_is_a_data_set_in_which_nothing_was_better_and_a_tie_counts_for_all():
    board = rank(one_seed([[0.9, 0.9, 0.1], [0.9, 0.8, 0.1], [0.1, NAN, 0.9]])).set_index("detector")
    assert board["wins"].to_dict() == {"D0": 2, "D1": 1, "D2": 1}


def test_differences_of_rounding_are_ties():
    board = rank(one_seed([[0.1 + 0.2, 0.3, 0.1]])).set_index("detector")
    assert board.loc[["D0", "D1"], "mean_rank"].tolist() == [1.5, 1.5]


def test_a_detector_that_fails_does_not_gain_by_leaving_out_the_hard_data_sets():
    board = rank(one_seed([[0.99, 0.98, 0.5], [NAN, 0.6, 0.5]]))
    assert board["detector"].tolist() == ["D1", "D0", "D2"]
    assert board["roc_auc"].idxmax() == 1


def test_a_data_set_whose_jobs_are_not_all_run_is_left_out_of_the_ranks():
    table = one_seed([[0.9, 0.8, 0.7], [0.5, 0.8, 0.9]])
    table = table.drop(table.index[-1])
    assert ranks(table, "roc_auc").index.tolist() == ["set 0"]
    assert rank(table).set_index("detector").loc["D2", "tried"] == 1


def test_settings_are_never_mixed():
    table = pd.concat([one_seed([[0.9, 0.5]]), one_seed([[0.1, 0.5]]).assign(setting="unsupervised")])
    board = rank(table)
    assert board[["setting", "detector", "roc_auc"]].to_numpy().tolist() == [
        ["novelty", "D0", 0.9],
        ["novelty", "D1", 0.5],
        ["unsupervised", "D1", 0.5],
        ["unsupervised", "D0", 0.1],
    ]
    assert rank(table, setting="unsupervised")["setting"].unique().tolist() == ["unsupervised"]
    with pytest.raises(ComparisonError, match="no setting was given; it holds 'novelty' and 'unsupervised'"):
        significance(table)


@pytest.mark.parametrize("ask", [rank, significance])
def test_an_unknown_metric_or_setting_is_one_sentence(ask):
    table = one_seed([[0.9, 0.5]])
    with pytest.raises(ComparisonError, match="unknown metric 'f1'; the metrics are roc_auc, average_precision, "):
        ask(table, "f1")
    with pytest.raises(ComparisonError, match="setting 'both' is not in this run; it holds 'novelty': name one"):
        ask(table, setting="both")


def test_a_run_without_jobs_cannot_be_ranked():
    with pytest.raises(ComparisonError, match="the run holds no finished jobs to rank"):
        rank(one_seed([[0.9, 0.5]]).iloc[:0])


# Friedman and Nemenyi -------------------------------------------------------------------------------------------------


@pytest.fixture
def grid():
    rng = np.random.default_rng(7)
    return rng.random((12, 5)) + np.linspace(0.5, 0, 5)


def test_friedmans_test_is_scipys(grid):
    found = significance(one_seed(grid))
    expected = scipy.stats.friedmanchisquare(*grid.T)
    assert (found.friedman_statistic, found.friedman_p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.n_datasets, found.setting, found.metric, found.reason) == (12, "novelty", "roc_auc", "")


def test_friedmans_test_takes_a_failure_for_the_last_rank(grid):
    failed = grid.copy()
    failed[0, 0] = NAN
    grid[0, 0] = -1
    assert significance(one_seed(failed)).friedman_p == pytest.approx(scipy.stats.friedmanchisquare(*grid.T).pvalue)


@pytest.mark.parametrize(("k", "q"), [(3, 2.343), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_of_demsars_table(k, q):
    found = significance(one_seed(np.random.default_rng(0).random((14, k))))
    assert found.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), abs=2e-3)


def test_nemenyis_p_is_below_the_level_exactly_where_ranks_differ_by_more_than_the_critical_difference(grid):
    found = significance(one_seed(grid))
    names = found.mean_ranks.index
    assert names.tolist() == found.nemenyi.index.tolist() == found.nemenyi.columns.tolist()
    apart = np.abs(np.subtract.outer(found.mean_ranks.to_numpy(), found.mean_ranks.to_numpy()))
    assert ((found.nemenyi.to_numpy() < found.alpha) == (apart > found.critical_difference)).all()
    assert (found.nemenyi.to_numpy() < found.alpha).any()


def test_detectors_that_are_all_equal_do_not_differ():
    found = significance(one_seed(np.full((4, 3), 0.5)))
    assert (found.friedman_statistic, found.friedman_p) == (0, 1)
    assert (found.wilcoxon["p"] == 1).all()
    assert (found.wilcoxon["better"] == "").all()


@pytest.mark.parametrize("shape", [(5, 2), (1, 4), (1, 1)])
def test_too_few_detectors_or_data_sets_are_a_sentence(shape):
    found = significance(one_seed(np.random.default_rng(0).random(shape)))
    assert found.reason == (
        "Friedman's test needs at least 3 detectors and 2 data sets that all of them were tried on; "
        f"here are {shape[1]} and {shape[0]}."
    )
    assert (found.friedman_p, found.nemenyi, found.critical_difference) == (None, None, None)
    assert len(found.mean_ranks) == shape[1]
    assert len(found.wilcoxon) == shape[1] * (shape[1] - 1) / 2


# Wilcoxon -------------------------------------------------------------------------------------------------------------

#: Table 2 of Demšar (2006): C4.5 without and with the parameter m on 14 data sets; he finds R+ = 93 and T = 12.
DEMSAR = np.array(
    [
        [0.763, 0.768], [0.599, 0.591], [0.954, 0.971], [0.628, 0.661], [0.882, 0.888], [0.936, 0.931], [0.661, 0.668],
        [0.583, 0.583], [0.775, 0.838], [1.000, 1.000], [0.940, 0.962], [0.619, 0.666], [0.972, 0.981], [0.957, 0.978],
    ]
)  # fmt: skip


def test_wilcoxons_t_is_demsars():
    (pair,) = significance(one_seed(DEMSAR)).wilcoxon.to_dict("records")
    assert (pair["a"], pair["b"], pair["better"], pair["T"], pair["n"]) == ("D1", "D0", "D1", 12, 14)


def test_wilcoxons_test_without_ties_is_scipys(grid):
    for pair in significance(one_seed(grid)).wilcoxon.to_dict("records"):
        a, b = (grid[:, int(pair[key][1:])] for key in "ab")
        expected = scipy.stats.wilcoxon(a, b, method="exact")
        assert (pair["T"], pair["p"]) == pytest.approx((expected.statistic, expected.pvalue))
        assert pair["better"] == (pair["a"] if np.sign(a - b) @ scipy.stats.rankdata(abs(a - b)) > 0 else pair["b"])


@settings(deadline=None, max_examples=25)
@given(arrays(float, st.integers(1, 8), elements=st.sampled_from([-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3])))
def test_wilcoxons_p_with_ties_is_the_share_of_all_signs_that_are_as_extreme(differences):
    rank_of = scipy.stats.rankdata(np.abs(differences))
    flippable = rank_of[differences != 0]
    plus = flippable[differences[differences != 0] > 0].sum()
    sums = np.array([np.dot(signs, flippable) for signs in product([0, 1], repeat=len(flippable))])
    one_side = min((sums <= plus + 1e-9).mean(), (sums >= plus - 1e-9).mean())
    table = one_seed(np.column_stack([0.5 + differences, np.full(len(differences), 0.5)]))
    (pair,) = significance(table).wilcoxon.to_dict("records")
    assert pair["p"] == pytest.approx(min(1, 2 * one_side))


def test_holms_correction_is_the_obvious_one(grid):
    pairs = significance(one_seed(grid)).wilcoxon.sort_values("p")
    expected, running = [], 0.0
    for i, p in enumerate(pairs["p"]):
        running = max(running, min(1, p * (len(pairs) - i)))
        expected.append(running)
    assert pairs["p_holm"].tolist() == pytest.approx(expected)


def test_a_pair_is_compared_on_the_data_sets_that_both_finished():
    pairs = significance(one_seed([[0.9, 0.8, NAN], [0.9, 0.8, 0.7], [NAN, 0.8, NAN]])).wilcoxon
    n = {frozenset((row["a"], row["b"])): row["n"] for row in pairs.to_dict("records")}
    assert n == {frozenset(("D0", "D1")): 2, frozenset(("D0", "D2")): 1, frozenset(("D1", "D2")): 1}


def test_a_pair_without_a_common_data_set_is_not_tested_and_not_corrected_for():
    pairs = significance(one_seed([[0.9, NAN, 0.5], [NAN, 0.8, 0.5]])).wilcoxon
    untested = pairs["n"] == 0
    assert untested.sum() == 1
    assert pairs.loc[untested, ["T", "p", "p_holm"]].isna().all(axis=None)
    assert pairs.loc[~untested, "p_holm"].notna().all()


def test_holms_correction_is_statsmodels(grid):
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="install statsmodels")
    pairs = significance(one_seed(grid)).wilcoxon
    assert pairs["p_holm"].tolist() == pytest.approx(multitest.multipletests(pairs["p"], method="holm")[1].tolist())
