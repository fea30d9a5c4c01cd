"""Every Python snippet of the pages is executed, in order and in one namespace per page; so is what they refer to."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from pyod_gessvdd.cli import main
from tests.compatibility.packages import real
from website.commands import reference
from website.error_messages import messages, table, warned
from website.pages import DOCS, ROOT
from website.pictures import DRAWN, GALLERY, in_both_themes
from website.snippets import ELSEWHERE as OF_OTHERS
from website.snippets import is_shown, snippets, with_output

#: These have tests of their own, which prepare the files and data that they speak of.
ELSEWHERE = {"compare.md", "plugins.md", "tables.md"}

PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
RUN = [page for page, text in PAGES.items() if snippets(text) and page not in ELSEWHERE]

#: What only an extra or the tests' own requirements bring …
NEEDS = {
    "how-to/dataframes.md": "polars",
    "how-to/large-data.md": "dask",
    "how-to/pyod.md": "suod",
    "how-to/serving.md": "onnx",
    "tutorials/own-csv.md": "scikit_posthocs",
}
#: … and what only the compatibility environment has; of what those packages warn is not ours to judge.
NEEDS_OTHERS = {"how-to/time-series.md": ("sktime", "aeon", "darts"), "how-to/mlflow.md": ("mlflow", "skops")}


@pytest.mark.parametrize("page", RUN)
def test_the_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], exc_type=ImportError)
    for package in NEEDS_OTHERS.get(page, ()):
        real(package)
    (tmp_path / "docs/images").mkdir(parents=True)  # explanations.md draws the pictures that it shows.
    with_output(PAGES[page], page, tmp_path, strict=page not in NEEDS_OTHERS)


def test_the_build_shows_no_output_of_pages_that_the_compatibility_environment_runs():
    assert set(NEEDS_OTHERS) == set(OF_OTHERS)
    assert all(not is_shown(page) for page in NEEDS_OTHERS)
    environments = (ROOT / ".ci/environments.py").read_text(encoding="utf-8")
    assert f'PAGES = "{" or ".join(NEEDS_OTHERS)}"' in environments


def test_output_and_figures_are_shown_below_their_block(tmp_path):
    blocks = ["print(1 + 1)", "import matplotlib.figure as m\nm.Figure()", "'x'"]
    shown = with_output("\n\n".join(f"```python\n{block}\n```" for block in blocks), "page", tmp_path)
    assert "```text\n2\n```" in shown
    assert shown.count("data:image/png;base64,") == 2, "one for each theme"
    assert '#only-light"' in shown
    assert '#only-dark"' in shown
    assert "```text\n'x'\n```" in shown


def test_the_repository_keeps_no_picture_that_no_code_draws():
    drawn = set(re.findall(r'savefig\("docs/images/(.*?)"', PAGES[DRAWN])) | {GALLERY}
    assert {path.name for path in (DOCS / "images").iterdir()} == drawn


def test_a_picture_has_two_themes():
    assert in_both_themes("![Rows](../images/map.png)") == (
        "![Rows](../images/map.png#only-light)\n![Rows](../images/map-dark.png#only-dark)"
    )
    assert in_both_themes(f"![All](images/{GALLERY})") == f"![All](images/{GALLERY})"


def test_a_snippet_that_warns_or_raises_ends_the_build(tmp_path):
    with pytest.raises(UserWarning, match="look"):
        with_output("```python\nimport warnings\nwarnings.warn('look')\n```\n", "page", tmp_path)
    with pytest.raises(ZeroDivisionError):
        with_output("```python\n1 / 0\n```\n", "page", tmp_path)


COMMANDS = {
    (page, line.removeprefix("$ ").split("#")[0].strip())
    for page, text in PAGES.items()
    if page not in ELSEWHERE  # Their commands are executed.
    for body in re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    for line in body.splitlines()
    if line.startswith("$ gessvdd ")
}


@pytest.mark.parametrize(("page", "command"), sorted(COMMANDS))
def test_the_options_of_the_commands_exist(page, command):
    words = shlex.split(command)
    known = main.get_command(click.Context(main), words[1])
    options = {option for parameter in known.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words[2:] if re.fullmatch(r"--?[a-z-]+", word)} <= options


def test_the_reference_of_the_command_line_has_every_command_and_option():
    text = reference(main, "gessvdd")
    for name in main.list_commands(click.Context(main)):
        assert f"\n### gessvdd {name}\n" in text
    assert "\n#### gessvdd bench paper\n" in text
    assert "| `-o, --out PATH` | Where to save the model. [required] |" in text.replace("\\", "")


@pytest.mark.parametrize("warning", sorted({warning.text for warning in warned()}))
def test_every_warning_is_explained(warning):
    rows = [row for row in PAGES["reference/errors.md"].splitlines() if row.startswith(f"| {warning} |")]
    assert len(rows) == 1, f"explain the warning {warning!r} in docs/reference/errors.md"


def test_no_warning_is_explained_that_is_gone():
    section = PAGES["reference/errors.md"].partition("## Warnings")[2].partition("\n## ")[0]
    explained = re.findall(r"^\| (?!warning|---)(.*?) \|", section.replace("|---", "| ---"), flags=re.MULTILINE)
    assert set(explained) == {warning.text for warning in warned()}


def test_every_exception_is_explained():
    from pyod_gessvdd import errors

    classes = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert classes == set(re.findall(r"^\| `errors\.(\w+)`", PAGES["reference/errors.md"], flags=re.MULTILINE))


def test_the_table_of_errors_is_read_from_the_source():
    found, shown = messages(), table()
    assert len(found) > 300
    for text in ("contamination must be in (0, 0.5], got …", "there is no file …"):
        assert text in {message.text for message in found}
        assert f" | {text} |" in shown


def test_every_public_name_is_in_the_reference():
    import pyod_gessvdd
    from pyod_gessvdd import checks, compare

    reference = "".join(text for page, text in PAGES.items() if page.startswith("reference/"))
    for module in (pyod_gessvdd, compare):
        for name in module.__all__:
            assert re.search(rf"{module.__name__}\.{name}\b", reference), f"{module.__name__}.{name}"
    assert f"::: {checks.__name__}\n" in reference


def test_every_hook_is_in_the_reference():
    from pyod_gessvdd.components import hookspecs

    hooks = [name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.PROJECT}_spec")]
    assert re.search(rf"members: \[{', '.join(hooks)}\]", PAGES["reference/contracts.md"])


def test_every_extra_is_on_the_page_on_installing():
    extras = re.search(
        r"\[project\.optional-dependencies\]\n(.*?)\n\[", (ROOT / "pyproject.toml").read_text(), re.DOTALL
    )
    for extra in re.findall(r"^(\w+) = ", extras[1], flags=re.MULTILINE):
        assert re.search(rf"^\|.*`{extra}`.*\|", PAGES["installing.md"], flags=re.MULTILINE), extra


def test_the_pages_that_docstrings_name_exist():
    named = {
        page
        for path in (ROOT / "pyod_gessvdd").rglob("*.py")
        for page in re.findall(r"docs/([\w/-]+\.md)", path.read_text(encoding="utf-8"))
    }
    assert "method.md" in named
    assert named <= set(PAGES)


def test_the_citation_names_this_version():
    import pyod_gessvdd

    assert f"\nversion: {pyod_gessvdd.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
