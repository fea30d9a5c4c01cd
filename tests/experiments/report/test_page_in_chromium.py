"""The report in a real browser: it opens from disk, sorts, filters, and its numbers are the database's."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("install the Debian packages chromium and chromium-driver", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="install selenium")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

from tests.experiments.runs import NASTY  # noqa: E402


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(reported, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    reported.to_html(path)
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    emulate(browser)
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)
    browser.execute_script("localStorage.clear()")
    return browser


def emulate(browser, width=1280, scheme="light"):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def all_of(page, selector):
    return page.find_elements(By.CSS_SELECTOR, selector)


def one(page, selector):
    (found,) = all_of(page, selector)
    return found


def job_rows(page):
    return page.execute_script(
        "return [...document.querySelectorAll('#all-jobs tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )


def stored(reported, query, *values):
    connection = sqlite3.connect(f"{reported.folder}/results.sqlite")
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def test_it_opens_from_disk_without_a_console_message_and_without_network(page, address):
    assert page.title == "5 detectors on 3 data sets · gessvdd compare"
    assert page.get_log("browser") == []
    asked = page.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in asked if not name.startswith("data:")] == []
    requests = [
        entry["message"] for entry in page.get_log("performance") if "Network.requestWillBeSent" in entry["message"]
    ]
    assert all(address in request or "data:," in request for request in requests)


def test_all_jobs_are_shown_with_the_figures_of_the_database(page, reported):
    columns = "dataset, detector, setting, seed, status, roc_auc, average_precision, precision_at_n, gmean"
    kept = {tuple(map(str, row[:4])): row for row in stored(reported, f"SELECT {columns} FROM jobs")}
    rows = job_rows(page)
    assert len(rows) == len(kept)
    for row in rows:
        expected = kept[tuple(row[:4])]
        assert row[4] == expected[4]
        for shown, value in zip(row[5:9], expected[5:], strict=True):
            # Half a unit of the last digit: JavaScript and Python round 0.90625 in different directions.
            assert shown == "–" if value is None else float(shown) == pytest.approx(value, abs=5.001e-5)


def test_the_leaderboard_is_the_mean_of_the_database(page, reported):
    per_set = stored(
        reported,
        "SELECT detector, avg(m), count(*) FROM (SELECT detector, dataset, avg(roc_auc) m FROM jobs "
        "WHERE setting = 'novelty' AND status = 'done' GROUP BY detector, dataset) GROUP BY detector",
    )
    rows = all_of(page, "#novelty .board")[0].find_elements(By.CSS_SELECTOR, "tbody tr")
    shown = {row.find_element(By.TAG_NAME, "th").text.rstrip("†"): row.find_elements(By.TAG_NAME, "td") for row in rows}
    assert len(shown) == len(per_set) == 5
    for detector, mean, n_sets in per_set:
        assert shown[detector][0].text.partition("±")[0] == f"{mean:.4f}"
        assert shown[detector][8].text.split()[0] == str(n_sets)


def test_the_leaderboard_sorts_both_ways_and_says_so(page):
    board = all_of(page, "#novelty .board")[0]
    heading = board.find_elements(By.CSS_SELECTOR, "thead th")[1]

    def column():
        return [
            float(cell.text.partition("±")[0]) for cell in board.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(2)")
        ]

    heading.find_element(By.TAG_NAME, "button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert column() == sorted(column(), reverse=True)
    heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert heading.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(column())


def test_the_jobs_sort_with_what_is_missing_last(page):
    heading = all_of(page, "#all-jobs thead th")[5]
    for _ in range(2):
        heading.find_element(By.TAG_NAME, "button").click()
        values = [row[5] for row in job_rows(page)]
        numbers = [float(value) for value in values if value != "–"]
        assert values[len(numbers) :] == ["–"] * 4
        assert numbers == sorted(numbers, reverse=heading.get_attribute("aria-sort") == "descending")


def test_the_jobs_filter_by_words_and_by_status(page):
    one(page, "#filter").send_keys("IRIS knn")
    assert {tuple(row[:2]) for row in job_rows(page)} == {("iris", "KNN")}
    assert one(page, "#shown").text == "4 of 4 rows (60 in all)"
    one(page, "#filter").clear()
    one(page, "#filter").send_keys(" ")
    Select(one(page, "#status")).select_by_value("failed")
    rows = job_rows(page)
    assert {row[1] for row in rows} == {"DislikesFourFeatures"}
    assert len(rows) == 4


def test_a_metric_is_chosen_for_all_tables_and_figures(page):
    Select(one(page, "#metric")).select_by_value("gmean")
    shown = {part.get_attribute("data-metric") for part in all_of(page, "[data-metric]") if part.is_displayed()}
    assert shown == {"gmean"}
    assert "highest mean Gmean" in one(page, "#novelty").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_changed_and_is_remembered(page, scheme):
    def background():
        return page.execute_script("return getComputedStyle(document.body).backgroundColor")

    emulate(page, scheme=scheme)
    paper = {"light": "rgb(253, 252, 250)", "dark": "rgb(20, 23, 27)"}
    other = {"light": "dark", "dark": "light"}[scheme]
    assert background() == paper[scheme]
    one(page, "#theme").click()
    assert background() == paper[other]
    page.refresh()
    assert background() == paper[other]


def test_a_data_set_is_chosen_for_the_curves(page, reported):
    chooser = Select(all_of(page, "#novelty select.dataset")[0])
    chooser.select_by_visible_text(NASTY)
    panel = one(page, "#novelty .panel")
    assert f"{NASTY}: 7 outliers among 44 test rows" in panel.text
    assert len(panel.find_elements(By.CSS_SELECTOR, ".roc .curve")) == 5
    one(page, "#novelty .step[data-step='1']").click()
    assert chooser.first_selected_option.text == "iris"
    # The detector that failed on it has no curve.
    assert len(panel.find_elements(By.CSS_SELECTOR, ".pr .curve")) == 4
    assert len(panel.find_elements(By.CSS_SELECTOR, ".scores .ridge")) == 8
    ((mean,),) = stored(
        reported, "SELECT avg(roc_auc) FROM jobs WHERE dataset = 'iris' AND detector = 'KNN' AND setting = 'novelty'"
    )
    (entry,) = [item for item in panel.find_elements(By.CSS_SELECTOR, ".legend li") if item.text.startswith("KNN")]
    assert entry.text.split()[1] == f"{mean:.3f}"


def test_a_pressed_name_in_the_legend_stands_out(page):
    button = all_of(page, "#novelty .legend button")[0]
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    series = button.get_attribute("data-for")
    assert [line.get_attribute("data-series") for line in all_of(page, "#novelty .curve.on")] == [series] * 2
    button.click()
    assert button.get_attribute("aria-pressed") == "false"


def test_a_traceback_opens_and_nothing_in_it_is_run(page):
    failure = all_of(page, "details.failure")[0]
    trace = failure.find_element(By.TAG_NAME, "pre")
    assert not trace.is_displayed()
    failure.find_element(By.TAG_NAME, "summary").click()
    assert trace.is_displayed()
    assert "ValueError: four features <script>" in trace.text
    assert page.title != "injected"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_page_itself_never_scrolls_sideways(page, width):
    emulate(page, width)
    page.refresh()
    scrolled, seen = page.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert scrolled <= seen <= width
