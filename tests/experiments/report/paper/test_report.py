"""From trials to the summary, the report and the table of figures."""

from __future__ import annotations

import pytest

from pyod_gessvdd.experiments.report.paper.published import AVERAGE, Block, Published
from pyod_gessvdd.experiments.report.paper.report import csv_rows, differences, report
from pyod_gessvdd.experiments.report.paper.summary import summarise

META = {
    "package_version": "1.2",
    "created": "today",
    "arguments": {"seed": 7, "scale": "standard", "quick": True},
}
HEART = Block("linear", "heart", "clean", "clean")


def trial(target, split, gmean, method="GESSVDD-I-GR-min", dataset="heart", status="done"):
    return {
        "dataset": dataset,
        "description": "linear",
        "method": method,
        "target": target,
        "split": split,
        "status": status,
        "error": "ValueError: no",
        **dict.fromkeys(("n_points", "n_infeasible", "n_unsolved"), 0),
        **dict.fromkeys(("gmean", "tpr", "tnr", "fpr", "fnr"), gmean),
    }


def two_classes(present, absent, **how):
    return [
        trial(target, split, gmean, **how)
        for target, gmeans in (("disease_present", present), ("disease_absent", absent))
        for split, gmean in enumerate(gmeans)
    ]


def published(average, spread, method="GESSVDD-I-GR-min"):
    return {
        (HEART, metric, target, method): value
        for target in ("DP", "DA", AVERAGE)
        for metric, value in (("Gmean", average), ("Gmean-sd", spread))
    }


# Summary --------------------------------------------------------------------------------------------------------------


def test_a_line_holds_means_deviations_and_their_averages_over_the_classes():
    (line,) = summarise(two_classes([0.4, 0.6], [0.8, 0.8]))
    assert line.figures["Gmean", "DP"] == pytest.approx(0.5)
    assert line.figures["Gmean-sd", "DP"] == pytest.approx(0.02**0.5)
    assert line.figures["Gmean", AVERAGE] == pytest.approx(0.65)
    assert line.figures["Gmean-sd", AVERAGE] == pytest.approx(0.02**0.5 / 2)
    assert (line.block, line.n_splits, line.targets) == (HEART, 2, ["DP", "DA", AVERAGE])


def test_failed_trials_and_half_done_methods_are_left_out():
    assert summarise([trial("disease_present", 0, 0.5)]) == []
    assert summarise([*two_classes([0.5], [0.5]), trial("disease_present", 1, None, status="failed")])[0].n_splits == 1


@pytest.mark.parametrize(
    ("dataset", "parts"),
    [
        ("heart-noisy-test", ("clean", "corrupted")),
        ("heart-noisy-train", ("corrupted", "clean")),
        ("heart-noisy-both", ("corrupted", "corrupted")),
    ],
)
def test_noisy_versions_belong_to_hearts_published_tables(dataset, parts):
    (line,) = summarise(two_classes([0.5], [0.5], dataset=dataset))
    assert line.block == Block("linear", "heart", *parts)


def test_the_report_says_how_it_was_done():
    text = report(
        two_classes([0.5], [0.5]),
        {**META, "versions": {"numpy": "2"}, "machine": {"system": "a machine", "cores": 2}},
        None,
    )
    assert "2 trials with 0 points of their grids, pyod-gessvdd 1.2, seed 7, started today." in text
    assert "numpy 2; a machine, 2 cores." in text
    assert "- A part of the paper's grid (--quick)." in text
    assert "- Features are standardised by the training rows of the target class" in text
    assert "- 0 points with unsolved QPs." in text


# Report ---------------------------------------------------------------------------------------------------------------


def test_our_figure_stands_beside_the_published_one_with_the_difference_in_its_deviations():
    text = report(two_classes([0.4, 0.6], [0.8, 0.8]), META, Published(published(0.55, 0.05)))
    row = next(line for line in text.splitlines() if line.startswith("| GESSVDD-I-GR-min"))
    assert row.split(" | ")[1:7] == ["0.50 ± 0.14", "0.55 ± 0.05", "-1.0", "0.80 ± 0.00", "0.55 ± 0.05", "+5.0"]
    assert "Mean over 1 variants: Gmean 0.650, published 0.550 (+0.100)." in text
    assert "Within 2 published standard deviations: 1 of 1 variants (100 %)." in text


def test_what_is_outside_is_listed():
    text = report(two_classes([0.9], [0.9]), META, Published(published(0.5, 0.1)))
    assert "Within 2 published standard deviations: 0 of 1 variants (0 %)." in text
    assert "- outside: GESSVDD-I-GR-min, 0.90 against 0.50 (+4.0 sd)" in text


def test_methods_other_than_the_variants_do_not_count_for_the_agreement():
    trials = two_classes([0.5], [0.5], method="ESVDD")
    assert differences(summarise(trials), Published(published(0.5, 0.1, "ESVDD"))) == []
    assert "The paper has no figures for these variants." in report(trials, META, Published({}))


def test_a_published_deviation_of_zero_gives_no_difference_in_deviations():
    text = report(two_classes([0.5], [0.5]), META, Published(published(0.4, 0.0)))
    assert "published 0.400" in text
    assert "Within 2" not in text


def test_without_published_figures_only_ours_are_shown():
    text = report(two_classes([0.4, 0.6], [0.8, 0.8]), META, None)
    assert "published" not in text
    assert "| GESSVDD-I-GR-min | 0.50 ± 0.14 | 0.80 ± 0.00 | 0.65 ± 0.07 |" in text


def test_failures_and_contradictions_are_said():
    failed = trial("disease_present", 3, None, status="failed")
    cells = {(HEART, metric, "DP", "SVDD"): value for metric, value in (("Gmean", 0.6), ("TPR", 0.5), ("TNR", 0.5))}
    text = report([*two_classes([0.5], [0.5]), failed], META, Published(cells))
    assert "- heart, linear, GESSVDD-I-GR-min, disease_present, split 3: ValueError: no" in text
    assert "- heart, linear, clean training and clean test rows: Gmean is above √(TPR·TNR)" in text
    assert "Nowhere that was looked for." in report([], META, Published({}))


def test_the_tests_compare_the_papers_reference_over_the_clean_sets():
    trials = []
    for dataset, targets in (("heart", ("disease_present", "disease_absent")), ("sonar", ("rock", "mines"))):
        for method, gmean in (("GESSVDD-kNN-GR-min", 0.5), ("SVDD", 0.7 if dataset == "heart" else 0.6)):
            trials += [trial(target, 0, gmean, method, dataset) for target in targets]
    text = report(trials, META, None)
    assert "## Wilcoxon's signed-rank test, linear, against GESSVDD-kNN-GR-min" in text
    assert "| SVDD | -0 | none | 2 | no |" in text
    assert "Wilcoxon" not in report(two_classes([0.5], [0.5]), META, None)


def test_many_classes_are_shown_by_their_average():
    trials = [trial(str(digit), 0, 0.1 * digit, dataset="mnist") for digit in range(10)]
    assert "| GESSVDD-I-GR-min | 0.45 ± – |" in report(trials, META, None)


def test_the_table_has_a_row_for_each_figure():
    rows = csv_rows(summarise(two_classes([0.4, 0.6], [0.8, 0.8])), Published(published(0.55, 0.05)))
    assert len(rows) == 6 * 3
    (row,) = [row for row in rows if (row["metric"], row["target_class"]) == ("Gmean", "DP")]
    assert (row["dataset"], row["train"], row["value"], row["published"]) == (
        "heart",
        "clean",
        pytest.approx(0.5),
        0.55,
    )
