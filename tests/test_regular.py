"""Blocks whose lines are alike are read as the line-by-line parser reads them, or left to it."""

import re
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.csv  # noqa: F401  (it is known to begin with)
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.sources import regular

BYTES = st.characters(exclude_characters=" #", min_codepoint=33, exclude_categories=["Cs"])
FIELD = st.text(BYTES, min_size=1, max_size=20).map(str.encode)
NUMBER = re.compile(rb"-?(\d+(\.\d+)?|\.\d+)")

Line = tuple[bytes, bytes, float]


def read(text: bytes, columns: int) -> list[Line] | None:
    """By stretches and by lines, which find the same."""
    with mock.patch.object(regular, "_WORTH", 0):
        found = read_one_way(text, columns)
    with mock.patch.object(regular, "_WORTH", 10**9):
        assert read_one_way(text, columns) == found
    return found


def read_one_way(text: bytes, columns: int) -> list[Line] | None:
    data = np.frombuffer(text + b"7 7\n" * 4, np.uint8)  # what stands behind does not matter
    found = regular.fields(data, len(text), columns, 4 if columns == 6 else 3)
    if found is None:
        return None
    lengths = np.diff(found.offsets).tolist()
    queries = [query for query, n in zip(found.queries, lengths, strict=True) for _ in range(n)]
    return list(zip(queries, found.item.tolist(), found.number.tolist(), strict=True))


def model(text: bytes, columns: int) -> list[Line] | None:
    """The same by splitting lines; None where a line is not in order."""
    out = []
    if not text.endswith(b"\n"):
        return None
    for line in text[:-1].split(b"\n"):
        fields = line.split(b" ")
        number = fields[-2 if columns == 6 else -1]
        if len(fields) != columns or not all(fields) or not NUMBER.fullmatch(number):
            return None
        out.append((fields[0], fields[2], float(number)))
    return out


@st.composite
def blocks(draw: st.DrawFn, columns: int) -> bytes:
    decimals = draw(st.integers(0, 8))
    second, tag = draw(st.sampled_from([b"Q0", b"0", b"x"])), draw(FIELD)
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        whole = draw(st.integers(0, 10**7 - 1))
        digits = f"{draw(st.integers(0, 10**decimals - 1)):0{decimals}}" if decimals else ""
        number = draw(st.sampled_from(["", "-"])) + (
            f"{whole}.{digits}" if decimals else str(whole)
        )
        fields = [draw(FIELD), second, draw(FIELD), number.encode()]
        if columns == 6:
            fields[3:] = [str(draw(st.integers(0, 2000))).encode(), number.encode(), tag]
        lines.append(b" ".join(fields) + b"\n")
    return b"".join(lines)


@pytest.mark.parametrize("columns", [4, 6])
@given(st.data())
def test_lines_that_are_alike(columns: int, data: st.DataObject) -> None:
    text = data.draw(blocks(columns))
    found = read(text, columns)
    if len(text) > 48:  # a shorter block may have no room for a word
        assert found is not None
    assert found in (None, model(text, columns))


@given(st.lists(st.tuples(FIELD, st.integers(1, 700)), min_size=1, max_size=4), st.data())
def test_long_stretches_of_one_query(
    stretches: list[tuple[bytes, int]], data: st.DataObject
) -> None:
    """Whose lines are compared with the first of them; one of the lines may be another query's."""
    lines = [b"%s Q0 d%d 1 %d.5 tag\n" % (query, i, i) for query, n in stretches for i in range(n)]
    at = data.draw(st.integers(0, len(lines) - 1))
    query, _, rest = lines[at].partition(b" ")
    lines[at] = data.draw(st.sampled_from([query, query[:-1] + b"x", query + b"x"])) + b" " + rest
    text = b"".join(lines)
    found = read(text, 6)
    assert found is not None or len(text) < 48
    assert found in (None, model(text, 6))


@pytest.mark.parametrize("size", range(1, 18))
@pytest.mark.parametrize("second", [b"Q", b"Q00", b"R0", b"0"])
def test_a_second_column_that_is_not_the_others(size: int, second: bytes) -> None:
    """Among lines of one query of any length: the items would begin elsewhere."""
    lines = [b"%s Q0 d%d 1 %d.5 tag\n" % (b"q" * size, i, i) for i in range(300)]
    assert read(b"".join(lines), 6) == model(b"".join(lines), 6)
    for at in (1, 150, 299):
        other = [*lines]
        other[at] = lines[at].replace(b" Q0 ", b" %s " % second)
        assert read(b"".join(other), 6) is None


@pytest.mark.parametrize("columns", [4, 6])
@given(st.data())
def test_one_byte_that_is_wrong(columns: int, data: st.DataObject) -> None:
    """A byte that is changed, left out or put in is noticed, or changes nothing that is read wrong."""
    text = bytearray(data.draw(blocks(columns)))
    at = data.draw(st.integers(0, len(text) - 1))
    byte = data.draw(st.sampled_from(b" \n\t\r\0.-+0189:/;e#x\xff\x10\x1f"))
    match data.draw(st.sampled_from(["change", "leave out", "put in", "swap"])):
        case "change":
            text[at] = byte
        case "leave out":
            del text[at]
        case "put in":
            text.insert(at, byte)
        case _:
            other = data.draw(st.integers(0, len(text) - 1))
            text[at], text[other] = text[other], text[at]
    found = read(bytes(text), columns)
    if found is not None:
        assert found == model(bytes(text), columns)


@given(st.integers(0, 10**7 - 1), st.integers(1, 8), st.data())
def test_numbers_are_rounded_as_python_rounds_them(
    whole: int, decimals: int, data: st.DataObject
) -> None:
    digits = data.draw(st.integers(0, 10**decimals - 1))
    number = f"{whole}.{digits:0{decimals}}"
    found = read(f"query Q0 item 1 {number} tag\n".encode(), 6)
    assert found == [(b"query", b"item", float(number))]


@pytest.mark.parametrize(
    "line",
    [b"q Q0 a 1 +1.5 t", b"q Q0 a 1 --1.5 t", b"q Q0 a 1-1.5 t", b"q Q0 a 1 1e-5 t", b"q Q0 a 1 12345678.5 t", b"q Q0 a 1 1.123456789 t",
     b"q Q0 a 1 nan t", b"q Q0 a 1 1. t", b"q Q0  1 1.5 t", b"q Q0 a  1.5 t", b"q  a 1 1.5 t",
     b" Q0 a 1 1.5 t", b"q Q0 a 1 1.5 ", b"q Q0 a 1  1.5 t", b"q Q0 a 1 1.5 t u", b"q Q0 a 1.5 t",
     b"q Q0 a 1 x1.5 t", b"q Q0 a 1 1,5 t", b"q Q0 a\x0b 1 1.5 t", b"q Q0 a 1 1.5 t\r"],
)  # fmt: skip
def test_what_is_left_to_others(line: bytes) -> None:
    """Alone, and among lines that are in order."""
    right = b"query Q0 item 1 2.5 t\n"
    assert read(right * 3, 6) is not None
    for text in (line + b"\n", right + line + b"\n" + right, right * 2 + line + b"\n"):
        assert read(text, 6) is None


@pytest.mark.parametrize("line", [b"q 0 a ", b"q 0 a -", b"q 0 a", b"q 0 a 1 ", b"q 0  1"])
def test_a_grade_that_is_missing_is_not_0(line: bytes) -> None:
    right = b"query 0 item 1\n"
    assert read(right * 3, 4) is not None
    for text in (line + b"\n", right + line + b"\n" + right, right * 200 + line + b"\n"):
        assert read(right + text + right, 4) is None


@pytest.mark.parametrize("line", [b"q Q0 a 1  t", b"q Q0 a 1 - t"])
def test_a_score_that_is_missing_is_not_0(line: bytes) -> None:
    right = b"query Q0 item 1 2 t\n"
    assert read(right * 3, 6) is not None
    for text in (line + b"\n", right * 200 + line + b"\n"):
        assert read(right + text + right, 6) is None


def test_short_files_are_read_without_pyarrow_and_as_with_it(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 -1.25 t\nq Q0 b 2 -3.50 u\nr Q0 b 1 1e3 t\n")
    qrels = {"q": {"b": 1}, "r": {"b": 1}}
    found = []
    for known in (True, False):
        with mock.patch.dict(sys.modules):
            if not known:
                sys.modules.pop("pyarrow.csv", None)
            found.append(germane.evaluate(qrels, tmp_path / "run", "RR")["RR"].per_query)
            assert ("pyarrow.csv" in sys.modules) == known
    assert found == [{"q": 1 / 2, "r": 1.0}] * 2
