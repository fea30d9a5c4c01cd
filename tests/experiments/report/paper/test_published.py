"""Reading the published figures, and finding what in them cannot be."""

from __future__ import annotations

import csv

import pytest

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.report.paper.published import AVERAGE, COLUMNS, PAPER, Block, Published

BLOCK = Block("linear", "heart", "clean", "clean")


def figures(**metrics):
    """From metric → {(target, method): value} to what Published holds."""
    return Published(
        {
            (BLOCK, metric.replace("_", "-"), target, method): value
            for metric, cells in metrics.items()
            for (target, method), value in cells.items()
        }
    )


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_figures_are_found_by_table_metric_class_and_method(tmp_path):
    path = write(tmp_path / "t.csv", [COLUMNS, ("Gmean", "linear", "heart", "clean", "clean", "DP", "ESVDD", "0.52")])
    published = Published.load(path)
    assert published.get(BLOCK, "Gmean", "DP", "ESVDD") == 0.52
    assert published.get(BLOCK, "TPR", "DP", "ESVDD") is None


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([COLUMNS[:-1]], "has no column 'value'; expected metric, description"),
        ([], "has no column 'metric'"),
        ([COLUMNS, ("Gmean", "linear", "heart", "", "", "DP", "ESVDD", "high")], "cannot read the published figures"),
        ([COLUMNS, ("Gmean", "linear")], "cannot read the published figures"),
    ],
)
def test_a_file_that_holds_no_figures_is_an_error(tmp_path, rows, sentence):
    with pytest.raises(ComparisonError, match=sentence):
        Published.load(write(tmp_path / "t.csv", rows))


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(ComparisonError, match=r"cannot read the published figures in .*nowhere"):
        Published.load(tmp_path / "nowhere.csv")


# Contradictions -------------------------------------------------------------------------------------------------------

CELLS = [(target, f"GESSVDD-{graph}-GR-min") for graph in ("I", "Sw", "Sb", "kNN") for target in ("DP", "DA")]


def test_figures_that_agree_with_each_other_are_not_blamed():
    tpr = {cell: 0.5 + 0.05 * i for i, cell in enumerate(CELLS)}
    tnr = {cell: 0.9 - 0.05 * i for i, cell in enumerate(CELLS)}
    published = figures(
        TPR=tpr,
        TNR=tnr,
        FNR={cell: round(1 - value, 2) for cell, value in tpr.items()},
        FPR={cell: round(1 - value, 2) for cell, value in tnr.items()},
        Gmean={cell: round((tpr[cell] * tnr[cell]) ** 0.5, 2) for cell in CELLS},
        Gmean_sd=dict.fromkeys(CELLS, 0.1),
    )
    assert published.inconsistencies() == []


def test_a_column_that_repeats_another_is_found():
    gmean = {cell: 0.3 + 0.01 * i for i, cell in enumerate(CELLS)}
    (sentence,) = figures(Gmean=gmean, TPR=gmean).inconsistencies()
    assert sentence == (
        "heart, linear, clean training and clean test rows: the columns Gmean and TPR are the same in 8 of 8 cells"
    )


def test_columns_of_zeros_prove_nothing():
    assert figures(Gmean=dict.fromkeys(CELLS, 0.0), TPR=dict.fromkeys(CELLS, 0.0)).inconsistencies() == []


def test_rows_for_min_and_max_that_are_identical_are_found():
    ten = {(str(digit), "GESSVDD-I-GR-min"): 0.1 * digit for digit in range(10)}
    copied = {**ten, **{(digit, "GESSVDD-I-GR-max"): value for (digit, _), value in ten.items()}}
    (sentence,) = figures(Gmean=copied).inconsistencies()
    assert sentence.endswith("the Gmean rows for min and max are identical in all 1 pairs of variants")
    assert figures(Gmean={**copied, ("3", "GESSVDD-I-GR-max"): 0.77}).inconsistencies() == []


def test_rates_that_do_not_add_up_to_one_are_found():
    (sentence,) = figures(TNR={("DP", "SVDD"): 0.4}, FPR={("DP", "SVDD"): 0.5}).inconsistencies()
    assert sentence.endswith("TNR + FPR is not 1 in 1 of 1 cells")


def test_a_gmean_above_what_its_rates_allow_is_found():
    cell = ("DP", "SVDD")
    (sentence,) = figures(Gmean={cell: 0.6}, TPR={cell: 0.5}, TNR={cell: 0.5}).inconsistencies()
    assert "Gmean is above √(TPR·TNR), which no mean over splits can be, in 1 of 1 cells" in sentence
    assert sentence.endswith("(for example SVDD, DP: 0.60)")


def test_a_mean_of_zero_with_a_standard_deviation_is_found():
    cell = ("DP", "SVDD")
    (sentence,) = figures(Gmean={cell: 0.0}, Gmean_sd={cell: 0.2}).inconsistencies()
    assert sentence.endswith(
        "Gmean is 0.00 with a standard deviation above 0.01 in 1 cells (for example SVDD, DP: 0.20)"
    )


def test_an_average_that_is_not_the_mean_is_found():
    cells = {("DP", "SVDD"): 0.2, ("DA", "SVDD"): 0.4, (AVERAGE, "SVDD"): 0.5}
    (sentence,) = figures(Gmean=cells).inconsistencies()
    assert sentence.endswith("the average Gmean is not the mean of the classes for 1 of 1 methods")


def test_the_figures_of_some_tables_can_be_taken(tmp_path):
    other = Block("linear", "liver", "", "")
    both = Published({(block, "Gmean", "DP", "SVDD"): 0.5 for block in (BLOCK, other)})
    assert both.of({BLOCK}).figures.keys() == {(BLOCK, "Gmean", "DP", "SVDD")}
    assert both.of({Block("linear", "iris", "", "")}) is None


def test_the_package_brings_the_papers_figures_with_their_source():
    published = Published.load(PAPER)
    assert len(published.figures) == 6191
    assert published.get(Block("linear", "heart", "clean", "corrupted"), "Gmean", "DP", "GESSVDD-Sb-GR-max") == 0.17
    assert published.get(Block("linear", "heart", "clean", "corrupted"), "Gmean", "DA", "GESSVDD-Sb-GR-max") == 0.22
    first = PAPER.read_text(encoding="utf-8").splitlines()[:3]
    assert all(line.startswith("# ") for line in first)
    assert "Pattern Recognition 133, 2023" in first[1]


def test_the_papers_own_file_has_the_contradictions_that_are_known_of_it():
    sentences = Published.load(PAPER).inconsistencies()
    assert "mnist, non-linear: the Gmean rows for min and max are identical in all 17 pairs of variants" in sentences
    repeated = [sentence for sentence in sentences if "columns Gmean and TNR and TPR are the same" in sentence]
    assert len(repeated) == 3
    assert all(sentence.startswith("heart, non-linear") for sentence in repeated)
