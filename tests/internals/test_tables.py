"""Table: the same cells in every format, and nothing in a cell that does anything."""

import csv
import html
import io
import math
import re
from typing import Any

import numpy as np
import pytest

import germane
from germane.errors import check_choice, make_visible
from germane.output.tables import (
    FORMATS,
    Table,
    add_schema,
    format_number,
    make_inert,
    measure_width,
    to_json_number,
)
from germane.presentation.pictures import format_short

TABLE = Table(
    ("run", "AP", "is"), (("a", "0.5000", "x"), ("long name", "10", "")), ("a note",), (2,)
)


def test_text() -> None:
    assert TABLE.text() == (
        "run            AP  is\n"
        "─────────  ──────  ──\n"
        "a          0.5000  x\n"
        "long name      10\n"
        "\n"
        "a note\n"
    )


def test_markdown() -> None:
    assert TABLE.markdown() == (
        "| run | AP | is |\n"
        "| :-- | --: | :-- |\n"
        "| a | 0.5000 | x |\n"
        "| long name | 10 |  |\n"
        "\n"
        "a note  \n"
    )


def test_latex() -> None:
    assert TABLE.latex() == (
        "\\begin{tabular}{lrl}\n"
        "\\toprule\n"
        "run & AP & is \\\\\n"
        "\\midrule\n"
        "a & 0.5000 & x \\\\\n"
        "long name & 10 &  \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "% a note\n"
    )


def test_csv_and_tsv() -> None:
    assert TABLE.csv() == "run,AP,is\r\na,0.5000,x\r\nlong name,10,\r\n"
    assert TABLE.tsv() == "run\tAP\tis\na\t0.5000\tx\nlong name\t10\t\n"


def test_cells_for_a_spreadsheet() -> None:
    table = Table(("run", "AP"), (("@jack", "-0.5"), ("=1+1", "+1"), ("a\nb", "1")))
    assert table.csv() == 'run,AP\r\n@jack,-0.5\r\n=1+1,+1\r\n"a\nb",1\r\n'
    assert table.csv(reader="spreadsheet") == "run,AP\r\n'@jack,-0.5\r\n'=1+1,+1\r\na\\nb,1\r\n"
    assert table.tsv(reader="spreadsheet") == "run\tAP\n'@jack\t-0.5\n'=1+1\t+1\na\\nb\t1\n"
    assert table.formulas() == ["@jack", "=1+1"]
    with pytest.raises(
        germane.errors.PolicyError, match="reader takes program or spreadsheet; got 'excel'"
    ):
        table.tsv(reader="excel")  # type: ignore[arg-type]


def test_html() -> None:
    text = TABLE.html()
    assert text.startswith(
        "<div class='germane' style='overflow-x:auto'><table style='border-collapse:collapse;white-space:nowrap'><thead>"
    )
    for side, tag, cell in (
        ("left", "th", "run"),
        ("right", "th", "AP"),
        ("right", "td", "0.5000"),
    ):
        assert f"<{tag} style='text-align:{side};padding:2px 10px'>{cell}</{tag}>" in text
    assert text.endswith("white-space:pre-wrap;padding:6px 10px'>a note</div></div>")
    assert "smaller" not in Table(("a",), ()).html()
    assert "a\nb" not in Table(("a",), (), ("a\nb",)).html()  # an id in a note starts no line


@pytest.mark.parametrize("style", FORMATS)
def test_without_rows_or_notes(style: str) -> None:
    text = FORMATS[style](Table(("run", "AP"), ()))
    assert "AP" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("style", FORMATS)
def test_every_cell_is_in_every_format(style: str) -> None:
    text = FORMATS[style](TABLE)
    for row in (TABLE.columns, *TABLE.rows):
        for cell in row:
            assert cell in text


def test_wide_characters_are_aligned() -> None:
    table = Table(("run", "AP"), (("日本語", "1"), ("e\u0301te\u0301", "2"), ("abc", "3")))
    lines = table.text().splitlines()
    assert {measure_width(line) for line in lines} == {10}
    assert measure_width("日本語") == 6
    assert measure_width("e\u0301") == 1


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain text", "plain text"),
        ("größe 日本", "größe 日本"),
        ("a\nb", "a\\nb"),
        ("a\tb\r", "a\\tb\\r"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\u202e\u200b\u2028", "\\u202e\\u200b\\u2028"),
        ("\udcff", "\\udcff"),
    ],
)
def test_visible(given: str, shown: str) -> None:
    assert make_visible(given) == shown
    assert shown.isprintable()


@pytest.mark.parametrize("number", ["1", "-1", "-0.5", "+1.5", "-1e-05", "-1.5e+20", "nan", "0"])
def test_numbers_stay_numbers(number: str) -> None:
    assert make_inert(number) == number


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-2+3", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "-1;2", "-", "="]
)
def test_formulas_do_not_start(cell: str) -> None:
    assert make_inert(cell) == "'" + cell


HOSTILE = [
    "a|b",
    "a\\|b",
    "a\nb",
    "a&b",
    "a\\\\",
    "<b>",
    '"',
    "'",
    ",",
    "\t",
    "%",
    "$x$",
    "{",
    "}",
    "~",
    "^",
    "_",
    "#",
]


@pytest.mark.parametrize("cell", HOSTILE)
def test_one_cell_stays_one_cell(cell: str) -> None:
    table = Table((cell, "AP"), ((cell, "1"), (cell, "2")), (cell,))
    for style, delimiter in (("csv", ","), ("tsv", "\t")):
        rows = list(csv.reader(io.StringIO(FORMATS[style](table)), delimiter=delimiter))
        assert [len(row) for row in rows] == [2, 2, 2]
        assert rows[1][0] == cell
    lines = table.markdown().split("\n\n")[0].splitlines()
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines] == [3, 3, 3, 3]
    for line in table.latex().splitlines()[4:6]:
        assert len(re.findall(r"(?<!\\)&", line)) == 1
        assert len(re.findall(r"\\\\$", line)) == 1
        assert not re.search(r"(?<!\\)[%$#]", line)
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", table.html())
    assert [html.unescape(c) for c in cells[::2]] == [make_visible(cell)] * 2


def test_a_finished_table_does_not_change() -> None:
    with pytest.raises(AttributeError):
        TABLE.rows = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "digits", "given", "text"),
    [
        (1 / 3, 4, {}, "0.3333"),
        (1 / 3, None, {}, repr(1 / 3)),
        (np.float64(0.5), None, {}, "0.5"),
        (0.25, 2, {"sign": "+"}, "+0.25"),
        (0.25, None, {"sign": "+"}, "0.25"),
        (-0.0, 4, {}, "0.0000"),
        (-0.0, None, {}, "0.0"),
        (-0.00001, 4, {}, "-0.0000"),
        (-0.00001, 4, {"sign": "z"}, "0.0000"),
        (math.nan, 4, {}, "nan"),
        (math.nan, None, {"nan": "none"}, "none"),
        (None, 4, {}, ""),
    ],
)
def test_numbers_are_written_in_one_way(
    value: float | None, digits: int | None, given: dict[str, Any], text: str
) -> None:
    assert format_number(value, digits, **given) == text


def test_short_numbers() -> None:
    assert [format_short(x) for x in (3.0, 2 / 3, -1.0)] == ["3", "0.6667", "-1"]


def test_json_has_a_schema_and_no_nan() -> None:
    assert add_schema({"runs": []}) == {"schema": 1, "runs": []}
    assert [to_json_number(x) for x in (0.5, math.nan, math.inf)] == [0.5, None, None]


@pytest.mark.parametrize("given", ["tec", "", 3, None, ["trec"], "x" * 1000], ids=repr)
def test_a_word_that_does_not_exist_is_refused(given: object) -> None:
    check_choice("ties", "trec", ("trec", "input"))
    with pytest.raises(
        germane.errors.PolicyError, match=r"^ties takes trec or input; got "
    ) as refused:
        check_choice("ties", given, ("trec", "input"))
    assert str(refused.value).endswith(" Did you mean 'trec'?") == (given == "tec")
    assert len(str(refused.value)) < 120


def test_notes_and_captions_hold_one_line_each() -> None:
    table = Table(("run", "AP"), (("a", "1"),), ("", "[a] note", "x   y", "ends."))
    notes = table.latex_float().split(r"\end{tabular}")[1]
    assert "{}[a] note.\\par\nx: y.\\par\nends.\\par\n" in notes
    assert "minipage" not in Table(("run", "AP"), (("a", "1"),)).latex_float()
