"""How a text table is written, told from its first lines."""

from __future__ import annotations

import gzip

import pytest

from pyod_gessvdd.errors import TableError
from pyod_gessvdd.tabular.dialect import SAMPLE_BYTES, recognise


@pytest.fixture
def seen(tmp_path):
    """Recognises a text, or bytes."""

    def seen(content, usual=",", name="t.csv", **said):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return recognise(tmp_path / name, usual, **said)

    return seen


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_a_separator_that_gives_rows_of_one_width_is_recognised(seen, sep):
    dialect = seen(sep.join("abc") + "\n" + sep.join("123") + "\n")
    assert dialect.sep == sep
    assert ("separated by" in "".join(dialect.notes)) == (sep != ",")


def test_the_files_usual_separator_wins_where_it_works(seen):
    assert seen("a;b,c;d\n1;2,3;4\n").sep == ","
    assert seen("a\tb,c\td\n1\t2,3\t4\n", usual="\t", name="t.tsv").sep == "\t"


def test_a_few_short_rows_do_not_hide_the_separator(seen):
    assert seen("a;b;c\n" + "1;2;3\n" * 20 + "1;2\n").sep == ";"


def test_row_names_do_not_hide_the_separator(seen):
    assert seen("a;b\n" + "r;1;2\n" * 20).sep == ";"
    assert seen("heat, C;b\n" + "1,5;2,5\n" * 20).sep == ";"


def test_a_form_feed_ends_no_line(seen):
    assert seen("a;b\n" + "x\x0cy;2\n" * 3).sep == ";"


def test_a_single_column_needs_no_separator(seen):
    assert seen("a\n1.5\n2.5\n").sep == ","


@pytest.mark.parametrize(("said", "sep"), [(";", ";"), ("tab", "\t"), ("\\t", "\t"), (" ", " ")])
def test_what_the_user_says_separates_columns(seen, said, sep):
    assert seen(sep.join("ab") + "\n" + sep.join("12") + "\n", sep=said).sep == sep


@pytest.mark.parametrize("said", ["", ";;", "x", '"'])
def test_a_separator_is_one_character(seen, said):
    with pytest.raises(TableError, match="--sep must be one character between the columns, such as ; or tab, got "):
        seen("a,b\n1,2\n", sep=said)


def test_a_decimal_mark_is_a_point_or_a_comma(seen):
    with pytest.raises(TableError, match=r"--decimal must be \. or , but got 'x'"):
        seen("a,b\n1,2\n", decimal="x")


@pytest.mark.parametrize(
    ("text", "decimal", "thousands"),
    [
        ("a;b\n1,5;2\n", ",", None),
        ("a;b\n1.5;2\n", ".", None),
        ("a;b\n1.234,5;2\n", ",", "."),
        ('a,b\n"1,5",2\n"2,25",3\n', ",", None),
        ('a,b\n"1,500",2.5\n"12,250",3\n', ".", ","),
        ('a,b\n"4,7",2.5\n', ".", None),
        ("a,b\n1,2\n", ".", None),
    ],
)
def test_decimal_marks_and_thousands_are_recognised(seen, text, decimal, thousands):
    dialect = seen(text)
    assert (dialect.decimal, dialect.thousands) == (decimal, thousands)
    assert ("decimal commas" in "".join(dialect.notes)) == (decimal == ",")
    assert ("between thousands" in "".join(dialect.notes)) == (thousands is not None)


def test_points_and_commas_side_by_side_are_asked_about(seen):
    with pytest.raises(
        TableError, match=r"t\.csv has numbers with a point and numbers with a comma; name the decimal mark"
    ):
        seen("a;b\n1,5;2.5\n")
    assert seen("a;b\n1,5;2.5\n", decimal=",").decimal == ","


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("5.1,3.5,0.2\n4.9,3.0,0.2\n", ["x0", "x1", "x2"]),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", ["x0", "x1", "x2"]),
        ("5.1,3.5,kind\n4.9,3.0,setosa\n", None),
        ("0,1,2\n4.9,3.0,0.2\n", None),
        ("400.5,401,401.5\n4.9,3.0,0.2\n", None),
        ("a,b\n1,2\n", None),
        ("5,1;3,5\n4,9;3\n", ["x0", "x1"]),
        ("5.1,,0.2\n4.9,3.0,0.2\n", ["x0", "x1", "x2"]),
        (",0,1\n0,4.9,3.0\n", None),
    ],
    ids=["numbers", "a class below", "a name", "counted", "wavelengths", "names", "decimal commas", "a gap", "pandas"],
)
def test_a_first_line_without_names_is_recognised(seen, text, names):
    dialect = seen(text)
    assert dialect.names == names
    assert ("holds no names" in "".join(dialect.notes)) == (names is not None)


def test_what_the_user_says_of_the_first_line_wins(seen):
    assert seen("5.1,3.5,0.2\n4.9,3.0,0.2\n", header=True).names is None
    assert seen("a,b\n1,2\n", header=False).names == ["x0", "x1"]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("Wärme,b\n1,2\n".encode("utf-8-sig"), "utf-8-sig"),
        ("Wärme,b\n1,2\n".encode(), "utf-8-sig"),
        ("Wärme\tb\n1\t2\n".encode("utf-16"), "utf-16"),
        ("Wärme,b\n1,2\n".encode("cp1252"), "cp1252"),
    ],
)
def test_the_encoding_is_recognised(seen, content, encoding):
    dialect = seen(content)
    assert dialect.encoding == encoding
    assert ("Windows-1252" in "".join(dialect.notes)) == (encoding == "cp1252")


def test_a_character_that_the_sample_cuts_in_two_is_no_other_encoding(seen):
    assert seen(b"a,b\n1," + b" " * (SAMPLE_BYTES - 7) + "ä\n".encode()).encoding == "utf-8-sig"


def test_excels_hint_is_skipped_and_believed(seen):
    dialect = seen("sep=;\na;b\n1;2\n")
    assert (dialect.sep, dialect.skip) == (";", 1)


def test_a_separator_at_the_end_of_every_row_is_noticed(seen):
    assert seen("a,b\n1,2,\n3,4,\n").trailing
    assert not seen("a,b\nr1,1,2\nr2,3,4\n").trailing


def test_a_gzipped_file_is_looked_into(seen):
    assert seen("a;b\n1,5;2\n", name="t.csv.gz").sep == ";"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty; a table has a line of names and a line for every row"),
        ("\n \n", "is empty; a table has a line of names and a line for every row"),
        ("a,b\n1,2\n3,4,5\n", "data row 2 has 3 values and the first line 2, with ',' between columns; correct it, or"),
        ("a,b,a\n1,2,3\n", "has more than one column called 'a'; rename them"),
        (b"a,b\n1,\x002\n", "cannot be read: it holds null bytes, so it is not text"),
    ],
)
def test_what_is_no_table_is_described(seen, content, sentence):
    with pytest.raises(TableError, match=sentence):
        seen(content)
