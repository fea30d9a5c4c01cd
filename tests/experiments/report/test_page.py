"""The report as HTML, as Markdown and as files."""

from __future__ import annotations

import json
import re
import sqlite3
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from pyod_gessvdd.cli import main
from pyod_gessvdd.compare import ComparisonResult
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.report import formats
from pyod_gessvdd.experiments.report.markdown import escape_markdown, pipe_table
from pyod_gessvdd.experiments.report.page import write_report
from pyod_gessvdd.experiments.report.panels import DEEP, bayes_matrix
from pyod_gessvdd.experiments.store import Store
from tests.experiments.report.test_figures import toy
from tests.experiments.runs import NASTY, run

TEMPLATES = Path(formats.__file__).parent / "templates"


class Page(HTMLParser):
    """Tags with their attributes, and the text of each element by its tag."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.stack = [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.stack.append(tag)

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if self.stack:
            self.text.setdefault(self.stack[-1], []).append(data)


@pytest.fixture(scope="module")
def html(reported):
    return reported.to_html()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


@pytest.fixture(scope="module")
def markdown(reported):
    return reported.to_markdown()


# HTML -----------------------------------------------------------------------------------------------------------------


def test_the_page_refers_to_nothing_outside_of_itself(page, html):
    for tag, attributes in page.tags:
        assert "src" not in attributes, tag
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), tag
    # The only addresses are names of XML vocabularies.
    assert set(re.findall(r"https?://[\w./]+", html)) <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}
    assert "@import" not in html
    policies = [attributes.get("content", "") for tag, attributes in page.tags if tag == "meta"]
    assert any(policy.startswith("default-src 'none'") for policy in policies)


def test_names_and_errors_are_text_and_not_markup(page, html):
    assert "<b>bold" not in html
    assert "<script>document" not in html
    assert any(NASTY in text for text in page.text["th"])
    assert any("four features <script>" in text for text in page.text["pre"])


def test_every_id_is_there_once_and_every_link_has_its_target(page):
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    links = {attributes["href"][1:] for tag, attributes in page.tags if tag == "a"}
    assert links <= set(ids)
    assert {"novelty", "unsupervised", "jobs", "failures", "compared"} <= links


def test_headings_do_not_skip_a_level(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_drawings_and_scrolling_boxes_have_names(page):
    for tag, attributes in page.tags:
        if tag == "svg" and attributes.get("aria-hidden") != "true":
            assert attributes["aria-label"]
        if "scroll" in (attributes.get("class") or "").split():
            assert (attributes["role"], attributes["tabindex"]) == ("region", "0")
            assert attributes["aria-label"]


def embedded(html, marker):
    return json.loads(re.search(rf"<script type=\"application/json\" {marker}>(.*?)</script>", html, re.DOTALL)[1])


def test_the_embedded_jobs_are_those_of_the_database(reported, html):
    jobs = embedded(html, 'id="jobs-data"')
    rows = [dict(zip(jobs["columns"], row, strict=True)) for row in jobs["rows"]]
    with sqlite3.connect(f"{reported.folder}/results.sqlite") as connection:
        connection.row_factory = sqlite3.Row
        stored = {tuple(row)[:4]: row for row in connection.execute("SELECT * FROM jobs")}
    connection.close()
    assert len(rows) == len(stored) == 60
    for row in rows:
        kept = stored[row["dataset"], row["detector"], row["setting"], row["seed"]]
        for name, value in row.items():
            assert value == (pytest.approx(kept[name], abs=1e-6) if isinstance(kept[name], float) else kept[name])


def test_the_page_says_what_was_run_with_what_and_where(page, reported):
    said = " ".join(page.text["dd"])
    assert NASTY in said
    assert "KNN, HBOS, PCA, DislikesFourFeatures and Warns" in said
    assert "novelty (seeds 0 and 1) and unsupervised (seeds 1 and 2)" in said
    assert "56 done, 4 failed" in said
    assert f"pyod {reported.meta['versions']['pyod']}" in said
    assert f"{reported.meta['machine']['cores']} cores" in said
    assert reported.meta["created"][:10] in said


def test_duplicates_fairness_failures_and_warnings_are_told(page):
    notes = " ".join(page.text["li"])
    assert "the same splits, the same rows and the same scaling" in notes
    assert re.search(r"Test rows that are also a training row, mean over the seeds: .* 14 of 44", notes)
    assert "† DislikesFourFeatures: 2 of 6 jobs failed" in notes
    assert any("RuntimeWarning: all is not well" in text for text in page.text["td"])
    assert any("iris (seed 0, 1)" in text for text in page.text["p"])


def test_a_run_of_one_detector_on_one_data_set_has_a_sentence_instead_of_tests(tmp_path):
    html = run(tmp_path, {"a": toy(0)}, ["hbos"], {"novelty": (0,)}).to_html()
    assert "One data set says nothing about others, so nothing is ranked or tested here." in html
    for heading in ("Mean rank", "Wins", "Every data set", "Differences beyond chance"):
        assert heading not in html
    assert "Critical-difference diagram of" not in html
    assert "No test row is also a training row." in html
    assert 'id="failures"' not in html


def test_ten_data_sets_show_where_our_detector_loses(tmp_path):
    data = {f"set {i}": toy(i) for i in (*range(2, 11), 1)}
    result = run(tmp_path, data, ["essvdd", "hbos", "knn"], {"novelty": (0,)}, ["roc_auc"])
    html, text = result.to_html(), result.to_markdown()
    assert "<h3>Where ESSVDD loses</h3>" in html
    assert "ROC-AUC of ESSVDD against the best other detector, 10 data sets." in html
    assert "### Where ESSVDD loses in ROC-AUC" in text
    assert "### Practical differences in ROC-AUC, by the Bayesian signed-rank test" in text
    # Data sets in the order in which a reader looks for them.
    order = re.findall(r"^\| (set \d+) +\| \W*\d\.\d{4}", text, re.MULTILINE)
    assert order[:10] == [f"set {i}" for i in range(1, 11)]


def test_the_heat_maps_ink_has_enough_contrast_everywhere_in_both_themes():
    """The ramp is mixed in OKLab, and its ink changes at one place: at least 4.5 to 1 at every place."""
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    names = ("heat-low", "heat-high", "heat-ink", "heat-deep-ink")
    found = {name: re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", css).groups() for name in names}
    for theme in (0, 1):
        low, high, ink, deep = (_linear(found[name][theme]) for name in names)
        for place in [i / 200 for i in range(201)]:
            mixed = [(1 - place) * a + place * b for a, b in zip(_oklab(low), _oklab(high), strict=True)]
            light = _luminance_of_oklab(mixed)
            text = _luminance(deep if place > DEEP else ink)
            assert (max(light, text) + 0.05) / (min(light, text) + 0.05) >= 4.5, (theme, place)


def _linear(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _luminance(rgb):
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


TO_LMS = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
          (0.0883024619, 0.2817188376, 0.6299787005))  # fmt: skip
TO_LAB = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
          (0.0259040371, 0.7827717662, -0.8086757660))  # fmt: skip


def _times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _oklab(rgb):
    return _times(TO_LAB, [value ** (1 / 3) for value in _times(TO_LMS, rgb)])


def _luminance_of_oklab(lab):
    lms = np.linalg.solve(TO_LAB, lab) ** 3
    return _luminance(np.linalg.solve(TO_LMS, lms))


def test_a_run_in_which_everything_failed_is_reported(tmp_path):
    result = run(tmp_path, {"a": toy(0)}, ["tests.experiments.bad_detectors:Raises"], {"novelty": (0,)})
    assert "No detector finished a data set." in result.to_html()
    assert "RuntimeError: no fit today" in result.to_markdown()


def test_the_first_metric_that_was_asked_for_is_shown_first(tmp_path):
    wanted = ("gmean", "roc_auc")
    html = run(tmp_path, {"a": toy(0)}, ["hbos", "pca"], {"novelty": (0,)}, metrics=wanted).to_html()
    assert re.findall(r'<option value="(\w+)">(?:ROC|Gmean|Avg|Prec)', html) == list(wanted)


def test_an_unfinished_run_is_reported_as_far_as_it_is(tmp_path):
    result = run(tmp_path, {"a": toy(0), "b": toy(1)}, ["hbos", "pca"], {"novelty": (0,)})
    result.table = result.table.iloc[:-1]
    said = " ".join(result.to_markdown().split())
    assert "1 job of b not run yet; these data sets are left out of the ranks" in said


def test_a_run_without_results_is_one_sentence(tmp_path):
    Store.create(tmp_path, {}).close()
    result = ComparisonResult.load(tmp_path)
    for report in (result.to_html, result.to_markdown):
        with pytest.raises(ComparisonError, match="the run holds no finished jobs, so there is nothing to report yet"):
            report()


# Markdown -------------------------------------------------------------------------------------------------------------


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_the_markdown_leaderboard_holds_the_figures(reported, markdown):
    table = markdown.partition("### Leaderboard by ROC-AUC")[2]
    rows = {row[0]: row for row in map(cells, re.findall(r"^\|.*\|$", table, re.MULTILINE)[:7])}
    for row in reported.rank(setting="novelty").to_dict("records"):
        shown = rows[row["detector"] + (" †" if row["failures"] else "")]
        plain = [cell.strip("*") for cell in shown]
        known = row["roc_auc_sd"] == row["roc_auc_sd"]
        assert plain[1] == f"{row['roc_auc']:.4f}" + (f" ± {row['roc_auc_sd']:.3f}" if known else "")
        assert plain[5:7] == [f"{row['mean_rank']:.2f}", str(row["wins"])]
        assert plain[10] == str(row["failures"])
    best = rows["PCA"]
    assert best[1].startswith("**")


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_head(markdown):
    for table in re.findall(r"(?:^\|.*\|\n?)+", markdown, re.MULTILINE):
        assert len({len(cells(line)) for line in table.strip().splitlines()}) == 1
    assert "<b>" not in markdown
    assert "<script>" not in markdown


def test_the_markdown_has_a_section_for_each_setting_and_table(markdown):
    heads = re.findall(r"^#+ .*$", markdown, re.MULTILINE)
    for head in (
        "## Novelty detection", "## Unsupervised detection", "### ROC-AUC on every data set",
        "### Wilcoxon's signed-rank tests of Gmean", "## Failures", "## Data sets", "## Detectors",
    ):  # fmt: skip
        assert head in heads


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=8), min_size=2, max_size=2), min_size=1, max_size=3))
def test_no_name_breaks_a_table(names):
    table = pipe_table(["a", "b"], [[escape_markdown(name) for name in row] for row in names])
    lines = table.split("\n")
    assert len(lines) == len(names) + 2
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)


# Files and the command ------------------------------------------------------------------------------------------------


def test_the_files_of_a_run_are_its_table_and_its_reports(reported, html, markdown, tmp_path):
    paths = write_report(reported, tmp_path)
    assert [path.name for path in paths] == ["results.csv", "report.md", "report.html"]
    assert paths[1].read_text(encoding="utf-8") == markdown
    assert paths[2].read_text(encoding="utf-8") == html
    table = pd.read_csv(paths[0])
    assert len(table) == 60
    assert table["roc_auc"].tolist() == pytest.approx(reported.table["roc_auc"].tolist(), nan_ok=True)


def invoke(*arguments):
    return CliRunner().invoke(main, ["report", *map(str, arguments)], env={"COLUMNS": "80", "FORCE_COLOR": None})


def test_the_command_draws_a_run_again(tmp_path):
    run(tmp_path, {"a": toy(0)}, ["hbos", "pca"], {"novelty": (0,)})
    done = invoke(tmp_path)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "HBOS" in done.stdout
    assert done.stdout.split()[-3:] == [str(tmp_path / name) for name in ("results.csv", "report.md", "report.html")]
    assert "1 data set" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_folder_that_is_no_run_is_one_sentence_and_exit_code_2(tmp_path):
    done = invoke(tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"gessvdd: {tmp_path} is not a run folder: it has no results.sqlite\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_sentence_and_exit_code_2(tmp_path):
    done = invoke(tmp_path / "nowhere")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_a_report_that_cannot_be_written_is_one_sentence_and_exit_code_2(tmp_path):
    run(tmp_path, {"a": toy(0)}, ["hbos"], {"novelty": (0,)})
    (tmp_path / "report.md").mkdir()
    done = invoke(tmp_path)
    assert done.exit_code == 2
    assert done.stderr == f"gessvdd: the reports cannot be written to {str(tmp_path)!r}: Is a directory\n"


# Numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [(2.5e-5, "25 µs"), (0.0123, "12.3 ms"), (1.5, "1.5 s"), (300, "5 min"), (7200, "2 h"), (float("nan"), "–")],
)
def test_times_have_three_digits_and_a_unit(value, words):
    assert formats.seconds(value) == words


@pytest.mark.parametrize(("value", "words"), [(1e-9, "< 0.001"), (0.0304, "0.030"), (1.0, "1.000"), (None, "–")])
def test_p_values_never_pretend_to_be_zero(value, words):
    assert formats.probability(value) == words


@pytest.mark.parametrize(
    ("names", "words"), [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b, c and 1 more")]
)
def test_names_are_listed_as_in_a_sentence(names, words):
    assert formats.listing(list(names), 3) == words


def test_a_detector_that_finished_nothing_has_no_row_among_the_beliefs():
    pairs = [("a", "b", 0.7), ("a", "none", np.nan), ("b", "none", np.nan)]
    found = SimpleNamespace(
        mean_ranks=pd.Series({"a": 1.0, "b": 2.0, "none": 3.0}),
        bayes=pd.DataFrame([{"a": a, "b": b, "better": p, "equal": 0.0, "worse": 1.0 - p} for a, b, p in pairs]),
    )
    rows = bayes_matrix(found)
    assert [row["detector"] for row in rows] == ["a", "b"]
    assert [len(row["cells"]) for row in rows] == [2, 2]
    assert rows[1]["cells"][0]["better"] == pytest.approx(0.3)
