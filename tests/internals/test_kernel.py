"""The compiled kernel against loops in Python that say the same."""

import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from germane.kernel import library
from germane.kernel.library import Column

compiled = pytest.mark.skipif(not library.is_loaded(), reason="there is no compiled kernel")
ROOT = Path(__file__).parents[2]

RUN = {"fields": 6, "item": 2, "number": 4, "more": True, "largest": sys.float_info.max}
QRELS = {"fields": 4, "item": 2, "number": 3, "more": False, "largest": 2.0**53}


# --- Lines -----------------------------------------------------------------------------------------

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def split_slowly(text, layout, start=0):
    """Query, item and number of each plain line, and where the first other line begins."""
    rows = []
    for line in re.finditer(rb"[^\r\n]*(\r\n|\n|\r|$)", text[start:]):
        fields = [field for field in re.split(rb"[ \t]+", line[0].rstrip(b"\r\n")) if field]
        if fields and not is_plain(line[0], fields, layout):
            return rows, start + line.start()
        if fields:
            rows.append((fields[0], fields[layout["item"]], float(fields[layout["number"]])))
        elif b"\0" in line[0]:
            return rows, start + line.start()
    return rows, len(text)


def is_plain(line, fields, layout):
    count, at = layout["fields"], layout["number"]
    if len(fields) < count or b"\0" in line or fields[0].startswith(b"#"):
        return False
    if len(fields) > count and (not layout["more"] or re.match(rb"[0-9+.-]", fields[at + 1])):
        return False
    written = fields[at]
    return bool(
        NUMBER.fullmatch(written)
        and abs(float(written)) <= layout["largest"]
        and len(written) <= 512
    )


def rows_of(text, lines):
    """What split_slowly gives, of what the kernel says."""
    ends = [*lines.stretches.tolist(), len(lines.starts)]
    queries = [
        bytes(text[start : start + size])
        for start, size in zip(lines.query_starts.tolist(), lines.query_sizes.tolist(), strict=True)
    ]
    assert all(one != other for one, other in pairwise(queries))
    owners = [
        query
        for query, begin, end in zip(queries, ends, ends[1:], strict=False)
        for _ in range(begin, end)
    ]
    items = [
        bytes(text[start : start + size])
        for start, size in zip(lines.starts.tolist(), lines.sizes.tolist(), strict=True)
    ]
    return list(zip(owners, items, lines.numbers.tolist(), strict=True))


PIECES = st.sampled_from(
    [
        *(b"q1", b"q2", b"#", b"a", b"\xc3\xa9\xff", b"\x0b", b"\x1c", b"\0", b"x" * 70),
        *(b"1", b"-2.5", b"+.5e-3", b"1e999", b"nan", b"0x10", b"12345678901234567890.5", b"."),
        *(b" ", b"\t", b"  ", b"\n", b"\r\n", b"\r", b"\n\n", b"\nq1 0 a 1 2.5 x", b"\nq1 0 b 1"),
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map(b"".join)
PLAIN = st.lists(
    st.tuples(
        st.sampled_from([b"q1", b"q2", b"q" * 100]),
        st.sampled_from([b" ", b"\t", b" \t "]),
        st.binary(min_size=1, max_size=12).map(lambda one: re.sub(rb"[\0\t\n\r ]", b"\x80", one)),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda one: repr(one).encode()),
        st.sampled_from([b"\n", b"\r\n", b"\r", b" \n"]),
    ),
    max_size=40,
)


@compiled
@pytest.mark.parametrize("layout", [RUN, QRELS], ids=["run", "qrels"])
@given(text=TEXTS, start=st.integers(0, 40))
def test_lines_are_split_up_to_the_first_that_is_not_plain(layout, text, start):
    start = min(start, len(text))
    lines = library.split_lines(text, start=start, **layout)
    rows, read = split_slowly(text, layout, start)
    assert rows_of(text, lines) == rows
    assert lines.read >= read  # blank lines are passed over
    assert not text[read : lines.read].strip(b" \t\r\n")


@compiled
@given(PLAIN, st.booleans())
def test_plain_lines_are_split_whatever_separates_them(lines, ended):
    text = b"".join(
        gap.join([query, b"Q0", item, b"1", number, b"tag"]) + end
        for query, gap, item, number, end in lines
    )
    text = text if ended else text.rstrip(b"\r\n ")
    found = library.split_lines(text, **RUN)
    assert rows_of(text, found) == [
        (query, item, float(number)) for query, _, item, number, _ in lines
    ]
    assert found.read == len(text)


ODD_LINES = [
    *("#q Q0 a 1 2.5 t", "# Q0 a 1 2.5 t", "q Q0 a 1 2.5", "q Q0 a 1 2.5 ", "q Q0 a 1 2.5 3 t"),
    *("q Q0 a 1 x t", "q", "q Q0 a b 1 2.5 t", "q Q0 a\0 1 2.5 t", "q Q0 a 1 2.5 t\0"),
]


@compiled
@pytest.mark.parametrize("line", ODD_LINES)
@pytest.mark.parametrize("before", ["", "q Q0 b 1 2.5 t\n", "q Q0 b 1 2.5 t\r\n\r\n"])
def test_a_line_that_is_not_plain_is_left_to_others(line, before):
    text = f"{before}{line}\nq Q0 c 1 2.5 t\n".encode()
    found = library.split_lines(text, **RUN)
    assert (len(found.numbers), found.read) == (before.count("q"), len(before))
    rest = library.split_lines(text, start=len(before) + len(line) + 1, **RUN)
    assert rows_of(text, rest) == [(b"q", b"c", 2.5)]


@compiled
@pytest.mark.parametrize("size", [10, 3000, 5000, 100_000])
def test_lines_may_be_longer_than_what_is_looked_at_at_once(size):
    text = b"q 0 " + b"i" * size + b" 1 2.5 t\nq 0 j 1 2.25 " + b"t" * size + b"\n"
    found = library.split_lines(text, **RUN)
    assert rows_of(text, found) == [(b"q", b"i" * size, 2.5), (b"q", b"j", 2.25)]
    blanks = b"q" + b" " * size + b"0 i 1 2.5 t"
    found = library.split_lines(b"q 0 h 1 2.5 t\n" + blanks, **RUN)
    assert len(found.starts) == (2 if size < 4000 else 1)  # that line is not plain any more
    assert found.read == (14 if size > 4000 else 14 + len(blanks))


@compiled
def test_a_text_ends_where_it_ends():
    """Lines that end at every distance from the end of the memory."""
    line = b"q1 Q0 item 1 2.5 tag"
    for size in range(len(line) + 1):
        text = np.frombuffer(b"q1 Q0 first 1 3 tag\n" + line[:size], np.uint8).copy()
        rows, read = split_slowly(text.tobytes(), RUN)
        found = library.split_lines(text, **RUN)
        assert (rows_of(text.tobytes(), found), found.read) == (rows, read)


def written_numbers(rng):
    """Decimals that are hard to round: of all lengths, halfway, at both ends of the range."""
    whole = rng.getrandbits(64)
    for digits in (1, 5, 15, 16, 17, 18, 19, 20, 25, 40):
        mantissa = str(rng.randrange(10**digits))
        point = rng.randrange(len(mantissa) + 1)
        yield f"{mantissa[:point]}.{mantissa[point:]}"
        yield f"{mantissa}e{rng.randrange(-345, 310)}"
        yield f"0.{'0' * rng.randrange(12)}{mantissa}"
    double = struct.unpack("d", struct.pack("Q", whole))[0]
    if abs(double) < sys.float_info.max:
        yield repr(double)
        yield f"{double:.17e}"
        above = float(np.nextafter(double, np.inf))
        half = (Decimal(double) + Decimal(above)) / 2
        yield f"{half:.60e}"
    near = 1 + rng.randrange(1 << 20) / 2**52
    yield f"{(Decimal(near) + Decimal(float(np.nextafter(near, 2)))) / 2:.53f}"
    yield str((1 << 53) + rng.randrange(1 << 12))
    yield str((1 << 63) + (rng.randrange(1 << 40) << 11) + 1024)
    yield f"{rng.randrange(1 << 53)}e-{rng.randrange(24)}"
    yield f"{rng.randrange(1 << 53)}e{rng.randrange(24)}"
    yield f"{rng.randrange(1, 1 << 52)}e-32{rng.randrange(10)}"


@compiled
def test_numbers_are_rounded_as_python_rounds_them():
    rng = random.Random(int(os.environ.get("GERMANE_SEED", "1")))
    numbers = [
        one
        for _ in range(int(os.environ.get("GERMANE_NUMBERS", "2000")))
        for one in written_numbers(rng)
    ]
    numbers = [one for one in numbers if abs(float(one)) <= sys.float_info.max]
    numbers += ["0", "-0", "0.0", "-.0", "5.", "0e999999999999", "1e-999999999999", "000.1E+1"]
    numbers += ["4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324"]
    numbers += ["2.2250738585072011e-308", "1.7976931348623157e308", "0" * 400 + "1"]
    text = "".join(f"q 0 i 1 {one} t\n" for one in numbers).encode()
    found = library.split_lines(text, **RUN)
    assert found.read == len(text)
    wanted = np.array(list(map(float, numbers)))
    differ = np.flatnonzero(found.numbers.view(np.int64) != wanted.view(np.int64))
    assert [numbers[at] for at in differ[:5]] == []


@compiled
@pytest.mark.parametrize(
    "written",
    [
        *("nan", "inf", "-inf", "0x10", "1_0", "1,5", "1e", "1e+", "e5", ".", "-", "+-1", "1.5f"),
        *("1e999", "-1e309", "1.7976931348623159e308", "\N{ARABIC-INDIC DIGIT ONE}", "1" * 600),
    ],
)
def test_other_numbers_are_not_plain(written):
    text = f"q 0 i 1 {written} t\n".encode()
    assert library.split_lines(text, **RUN).read == 0


@compiled
def test_the_decimal_point_is_one_in_every_locale():
    """Numbers that strtod reads, in a process whose locale writes a comma."""
    code = (
        "import locale\n"
        "for name in ('de_DE.UTF-8', 'de_DE', 'fr_FR.UTF-8', 'de_DE.utf8'):\n"
        "    try: locale.setlocale(locale.LC_ALL, name); break\n"
        "    except locale.Error: pass\n"
        "from germane.kernel import library\n"
        "text = b'q 0 i 1 1.25e-40 t\\nq 0 j 1 1.25 t\\n'\n"
        f"print(library.split_lines(text, **{RUN!r}).numbers.tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1.25e-40, 1.25]"


# --- Lists of JSON's objects -----------------------------------------------------------------------

WIDTHS = {"a": 1, "bc": 3}
OBJECT = '{"a":1,"bc":[2,-3.5,4e2]}'


def read_slowly(text, depth=32):
    """The rows of a list of objects in plain ASCII, each with one number and three; or None."""
    if not text.isascii() or re.search(rb"[\\\x7f]", text):
        return None
    try:
        kinds = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), read_short)
        objects = json.loads(text, object_pairs_hook=Pairs, **kinds)
    except (ValueError, RecursionError):
        return None
    if not isinstance(objects, list) or not objects or measure_depth(objects) > depth + 2:
        return None
    if has_key_twice(objects):
        return None
    rows = []
    for pairs in objects:
        if not isinstance(pairs, Pairs) or sorted(key for key, _ in pairs if key in WIDTHS) != [*WIDTHS]:  # fmt: skip
            return None
        cells = dict(pairs)
        if type(cells["bc"]) is not list or len(cells["bc"]) != 3:
            return None
        rows.append([cells["a"], *cells["bc"]])
    numbers = [number for row in rows for number in row]
    return rows if all(type(number) is float for number in numbers) else None


def read_short(number):
    if len(number) > 512 or not math.isfinite(float(number)):
        raise ValueError(number)
    return float(number)


class Pairs(list):
    """The keys and values of an object, also of one that has a key twice."""


def has_key_twice(value):
    if not isinstance(value, Pairs):
        return isinstance(value, list) and any(map(has_key_twice, value))
    keys = [key for key, _ in value]
    return len({*keys}) < len(keys) or any(has_key_twice(part) for _, part in value)


def measure_depth(value):
    if isinstance(value, Pairs):
        value = [part for _, part in value]
    return 1 + max(map(measure_depth, value), default=0) if isinstance(value, list) else 0


NUMBERS = [
    *(
        "1",
        "-0",
        "0.25",
        "1e3",
        "1E-3",
        "1e+3",
        "01",
        "-01",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e+",
        "-",
        "",
    ),
    *(
        "NaN",
        "-Infinity",
        "true",
        "null",
        '"1"',
        "[1]",
        "1e999",
        "9" * 400,
        "1." + "0" * 510,
        "1." + "0" * 511,
        "1 2",
        "0x1",
        "1_0",
    ),
]
LISTS = [
    "[1,2,3]",
    "[ 1 , 2 , 3 ]",
    "[1,2]",
    "[1,2,3,4]",
    "[1,,3]",
    "[1,2,3,]",
    "[1,2,3}",
    "[[1,2,3]]",
    "[]",
    "1",
]
MORE = [
    *(
        ",",
        ",,",
        ',"a":1',
        ',"bc":[1,2,3]',
        ',"A":1',
        ',"\\u0061":1',
        ',"é":1',
        ',"d":1',
        ',"d":"\\n"',
    ),
    *(
        ',"d":01',
        ',"d":tru',
        ',"d":nulls',
        ',"d":"\x1f"',
        ',"d":"\x7f"',
        ',"d":"',
        ',"d" 1',
        ",d:1",
    ),
    *(',"d":{}', ',"d":{"a":[1,{"a":null}]}', ',"d":{"a":}', ',"d":{"a" 1}', ',"d":{"a":1,}', "}"),
    *(',"d":1,"d":1', ',"d":{"e":1,"e":2}', ',"d":[[{"e":{},"f":1,"e":2}]]', ',"d":{"d":{"d":1}}'),
    *(',"d":[]', ',"d":[1,]', ',"d":[1 2]', ',"d":[1}', ',"d":{"a":1]', ',"d":NaN', "\0", "\f,"),
    *(f',"d":{"[" * depth}{"]" * depth}' for depth in (32, 33, 100_000)),
]
ENDS = [
    "]",
    "] \r\n\t",
    "",
    "]]",
    ",]",
    f",{OBJECT}]",
    f"{OBJECT}]",
    f",1,{OBJECT}]",
    ",[]]",
    "]1",
    "}",
]
STARTS = ["[", " \n[", "", "[[", "[,", "{", "\ufeff[", f"[{OBJECT},"]
ODD_OBJECTS = [
    *(f'[{{"a":{number},"bc":[1,2,3]}}]' for number in NUMBERS),
    *(f'[{{"a":1,"bc":[1,{number},3]}}]' for number in NUMBERS),
    *(f'[{{"a":1,"bc":{numbers}}}]' for numbers in LISTS),
    *(f'[{{"a":1,"bc":[1,2,3]{more}}}]' for more in MORE),
    *(f"{start}{OBJECT}{end}" for start in STARTS for end in ENDS),
    *(
        "",
        " ",
        "[",
        "]",
        "[]",
        "{}",
        "[{}]",
        '[{"a":1}]',
        '[{"bc":[1,2,3]}]',
        '[{"a":1,"a":2}]',
        "1",
        "null",
    ),
]


EXTRA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab 7", max_size=3),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text("cd"), part, max_size=3),
    max_leaves=6,
)


@compiled
def test_objects_are_read_or_left_to_others():
    for text in ODD_OBJECTS:
        read = library.read_objects(text.encode(), WIDTHS)
        assert (None if read is None else read.T.tolist()) == read_slowly(text.encode()), text
    plain = [text for text in ODD_OBJECTS if read_slowly(text.encode())]
    assert 30 < len(plain) < len(ODD_OBJECTS) / 2


@compiled
@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
            EXTRA,
            st.permutations(["a", "bc", "d"]),
        ),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([None, 0, 2]),
)
def test_plain_objects_are_read_whatever_their_keys_and_blanks(rows, indent):
    objects = [
        {key: {"a": row[0], "bc": row[1:], "d": extra}[key] for key in keys}
        for row, extra, keys in rows
    ]
    read = library.read_objects(json.dumps(objects, indent=indent).encode(), WIDTHS)
    assert read.T.tolist() == [row for row, _, _ in rows]


def test_no_objects_are_read_without_the_kernel():
    read = """library.read_objects(b'[{"a":1}]', {"a": 1})"""
    assert ask("0", f"from germane.kernel import library; print({read})").stdout == "None\n"


# --- Columns ---------------------------------------------------------------------------------------


def spans(texts):
    """Texts that stand in any order in their bytes."""
    order = random.Random(len(texts)).sample(range(len(texts)), len(texts))
    starts, data = [0] * len(texts), b"-"
    for at in order:
        starts[at] = len(data)
        data += texts[at] + b"-"
    return Column.of_spans(data, np.array(starts, np.int64), np.array(list(map(len, texts)), int))


def offsets_of(texts):
    return np.concatenate([[0], np.cumsum([len(one) for one in texts], dtype=np.int64)])


def texts_of(texts):
    """One behind the other, as Arrow has them."""
    offsets = offsets_of(texts)
    return Column.of_spans(b"".join(texts), offsets[:-1], np.diff(offsets))


def codes(texts):
    entries = sorted(set(texts), key=lambda one: one[::-1])
    return Column.of_codes(np.array(list(map(entries.index, texts)), np.int32), texts_of(entries))


def int64(numbers):
    return Column.of_integers(np.array(numbers, np.int64))


def uint64(numbers):
    return Column.of_integers(np.array(numbers, np.uint64))


LAYOUTS = [spans, texts_of, codes]
TEXT = st.one_of(
    st.sampled_from([b"", b"a", b"b", b"ab", b"same start and end", b"same start, and end"]),
    st.binary(max_size=40),
    st.sampled_from([b"long" * 50 + b"1", b"long" * 50 + b"2"]),
)
NUMBERS = st.one_of(st.integers(0, 12), st.integers(-(2**63), 2**63 - 1))
LARGE = st.one_of(st.integers(0, 12), st.integers(0, 2**64 - 1))


@st.composite
def columns(draw):
    """Ids, and a function that makes a column of them."""
    layout, ids = draw(
        st.sampled_from(
            [(layout, TEXT) for layout in LAYOUTS] + [(int64, NUMBERS), (uint64, LARGE)]
        )
    )
    return draw(st.lists(ids, max_size=30)), layout


@compiled
@given(columns())
def test_changes_are_where_an_id_is_not_the_one_before(column):
    ids, layout = column
    changes = [row for row in range(len(ids)) if row == 0 or ids[row] != ids[row - 1]]
    assert library.find_changes(layout(ids)).tolist() == changes


@compiled
def test_changes_are_found_however_many_there_are():
    ids = np.arange(200_000) // 2
    assert np.array_equal(library.find_changes(int64(ids)), np.arange(0, 200_000, 2))


@compiled
@given(st.lists(TEXT), st.lists(TEXT), st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS))
def test_rows_are_found_whatever_the_layout(among, wanted, layout, other):
    found = library.Index(layout(among)).find(other(wanted))
    assert found.tolist() == [among.index(one) if one in among else -1 for one in wanted]


@compiled
@given(st.lists(NUMBERS), st.lists(LARGE))
@example([-1, -(2**63)], [2**64 - 1, 2**63])  # of the same bits
def test_integers_with_and_without_a_sign_are_the_same(signed, unsigned):
    found = library.Index(int64(signed)).find(uint64(unsigned))
    assert found.tolist() == [signed.index(one) if one in signed else -1 for one in unsigned]
    found = library.Index(uint64(unsigned)).find(int64(signed))
    assert found.tolist() == [unsigned.index(one) if one in unsigned else -1 for one in signed]


@compiled
def test_a_text_is_no_integer():
    with pytest.raises(ValueError, match="do not fit"):
        library.Index(int64([1])).find(texts_of([b"1"]))


BROKEN = [
    ("a span behind the end", lambda: Column.of_spans(b"abc", np.array([2]), np.array([2]))),
    ("a span before the beginning", lambda: Column.of_spans(b"abc", np.array([-1]), np.array([2]))),
    ("a negative size", lambda: Column.of_spans(b"abc", np.array([1]), np.array([-1]))),
    ("a sum that overflows", lambda: Column.of_spans(b"abc", np.array([2**63 - 1]), np.array([2]))),
    ("a code too great", lambda: Column.of_codes(np.array([1], np.int32), texts_of([b"a"]))),
    ("a negative code", lambda: Column.of_codes(np.array([-1], np.int32), texts_of([b"a"]))),
]


@compiled
@pytest.mark.parametrize(("what", "make"), BROKEN, ids=[what for what, _ in BROKEN])
def test_columns_that_point_outside_their_data_are_refused(what, make):
    column = make()
    with pytest.raises(ValueError, match="do not fit"):
        library.find_changes(column)
    with pytest.raises(ValueError, match="do not fit"):
        library.hash_rows(column, [0.0], [0, 1], np.zeros((2, 1), np.uint64), 1)
    with pytest.raises(ValueError, match="do not fit"):
        library.Index(texts_of([b"a"])).find(column)
    with pytest.raises(ValueError, match="do not fit"):
        reduce([0, 1], column, None, [0, 1], texts_of([b"a"]))


@compiled
def test_lengths_that_disagree_are_refused():
    column, ones = texts_of([b"a", b"b"]), np.ones(1)
    for offsets in ([0, 3], [-1, 2], [2, 0]):
        with pytest.raises(ValueError, match="do not fit"):
            reduce(offsets, column, None, [0, 2], column)
    for judged in ([0, 3], [-1, 2], [2, 0], [0]):
        with pytest.raises(ValueError, match="do not fit"):
            reduce([0, 2], column, None, judged, column)
    with pytest.raises(ValueError, match="do not fit"):
        library.hash_rows(column, [0.0, 0.0], [0, 3], np.zeros((2, 1), np.uint64), 1)
    with pytest.raises(ValueError, match="numbers must have 2 values; got 1"):
        library.hash_rows(column, ones, [0, 2], np.zeros((2, 1), np.uint64), 1)
    with pytest.raises(ValueError, match="offsets must have 2 values; got 1"):
        reduce([0], column, None, [0, 2], column)
    with pytest.raises(ValueError, match="must not be empty"):
        reduce([0, 2], column, None, [], column)
    with pytest.raises(ValueError, match="scores must have 2 values; got 1"):
        reduce([0, 2], column, ones, [0, 2], column)
    with pytest.raises(ValueError, match="sizes must have 1 values; got 2"):
        Column.of_spans(b"abc", np.array([0]), np.array([1, 1]))
    with pytest.raises(ValueError, match="start must be from 0 to 1; got 2"):
        library.split_lines(b"a", start=2, **RUN)


# --- Ranks -----------------------------------------------------------------------------------------


def reduce(offsets, items, scores, judged_offsets, judged, **rules):
    scores = None if scores is None else np.array(scores, float)
    offsets, judged_offsets = np.array(offsets, np.int64), np.array(judged_offsets, np.int64)
    queries = np.arange(max(len(offsets) - 1, 1))
    return library.reduce_rows(items, scores, offsets, queries, judged, judged_offsets, **rules)


def reduce_slowly(groups, judged, ties, repeats):
    """Row, judgment, group, rank, tied_from and tied_to of each hit; or the rows of a repeated item.

    groups: query, items and scores (or None) of each; judged: the items of each query.
    """
    hits, base = [], 0
    starts = offsets_of(judged).tolist()
    for group, (query, items, scores) in enumerate(groups):
        if query >= 0 and repeats == "refuse":
            for row, item in enumerate(items):
                if items.index(item) < row:
                    return base + row, base + items.index(item)
        order = sorted(range(len(items)), key=lambda row: row)
        if scores is not None:
            if ties == "id":
                order.sort(key=lambda row: text_of(items[row]), reverse=True)
                order = stable_by_row(order, items)
            order.sort(key=lambda row: scores[row], reverse=True)
        for rank, row in enumerate(order, 1):
            if query < 0 or items[row] not in judged[query]:
                continue
            tied = [rank, rank]
            if scores is not None:
                higher = sum(score > scores[row] for score in scores)
                tied = [higher + 1, higher + scores.count(scores[row])]
            judgment = starts[query] + judged[query].index(items[row])
            hits.append((base + row, judgment, group, rank, *tied))
        base += len(items)
    return hits


def stable_by_row(order, items):
    """Equal ids stand in the order of their rows, which a reversed sort keeps in Python."""
    assert all(one < other for one, other in pairwise(order) if items[one] == items[other])
    return order


def text_of(item):
    return item if isinstance(item, bytes) else str(item).encode()


@st.composite
def batches(draw):
    """Groups of rows, judgments, and how to lay out either's ids."""
    sides = st.sampled_from(
        [(layout, other, TEXT) for layout in LAYOUTS for other in LAYOUTS]
        + [(int64, int64, NUMBERS), (int64, uint64, NUMBERS), (uint64, uint64, LARGE)]
    )
    layout, other, ids = draw(sides)
    if other is uint64:
        ids = LARGE if layout is uint64 else st.integers(0, 30)
    pool = draw(st.lists(ids, min_size=1, max_size=25, unique=True))
    some = st.lists(st.sampled_from(pool), unique=draw(st.integers(0, 3)) > 0, max_size=25)
    judged = draw(st.lists(st.lists(st.sampled_from(pool), unique=True), min_size=1, max_size=4))
    number = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 2.5]), st.floats(-3, 3))
    scored, falls = draw(st.booleans()), draw(st.booleans())
    groups = []
    for _ in range(draw(st.integers(0, 5))):
        items = draw(some)
        scores = draw(st.lists(number, min_size=len(items), max_size=len(items)))
        scores = sorted(scores, reverse=True) if falls else scores
        query = draw(st.integers(-1, len(judged) - 1))
        groups.append((query, items, scores if scored else None))
    return groups, judged, layout, other


def reduce_batch(groups, judged, layout, other, ties, repeats):
    rows = [item for _, items, _ in groups for item in items]
    scores = [score for _, _, scores in groups for score in scores or []]
    scored = bool(groups) and groups[0][2] is not None
    return library.reduce_rows(
        layout(rows),
        np.array(scores, float) if scored else None,
        offsets_of([items for _, items, _ in groups]),
        np.array([query for query, _, _ in groups], np.int64),
        other([item for items in judged for item in items]),
        offsets_of(judged),
        ties=ties,
        repeats=repeats,
    )


@compiled
@given(batches(), st.sampled_from(["id", "given"]), st.sampled_from(["refuse", "keep"]))
def test_judged_items_are_ranked_as_a_sort_ranks_them(batch, ties, repeats):
    groups, judged, _, _ = batch
    wanted = reduce_slowly(groups, judged, ties, repeats)
    if isinstance(wanted, tuple):
        with pytest.raises(library.RepeatedRowError) as caught:
            reduce_batch(*batch, ties, repeats)
        assert (caught.value.row, caught.value.other) == wanted
        return
    hits = reduce_batch(*batch, ties, repeats)
    assert list(zip(*(column.tolist() for column in hits), strict=True)) == wanted


@compiled
@pytest.mark.parametrize("ties", ["id", "given"])
@pytest.mark.parametrize("falls", [True, False], ids=["sorted", "unsorted"])
@pytest.mark.parametrize("distinct", [1, 3, 40, 2000])
@pytest.mark.parametrize("judged", [1, 8, 9, 700])
def test_large_groups_are_ranked_as_small_ones(ties, falls, distinct, judged):
    """Large enough that ranks are sorted out, and that scores are looked up by their bucket."""
    rng = np.random.default_rng(judged + distinct)
    items = rng.permutation(5000)[:2000]
    scores = rng.integers(0, distinct, 2000) / 7
    if falls:
        scores[::-1].sort()
    wanted = [*rng.choice(items, judged, replace=False).tolist(), 5001, 5002]
    for layout in (int64, lambda ids: texts_of([str(one).encode() for one in ids])):
        hits = reduce([0, 2000], layout(items), scores, [0, len(wanted)], layout(wanted), ties=ties)
        by_id = sorted(range(2000), key=lambda row: str(items[row]), reverse=True)
        order = by_id if ties == "id" else list(range(2000))
        order.sort(key=lambda row: -scores[row])
        known = set(wanted)
        ranked = [(row, rank) for rank, row in enumerate(order, 1) if items[row] in known]
        assert list(zip(hits.row.tolist(), hits.rank.tolist(), strict=True)) == ranked
        tied = [1 + int((scores > scores[row]).sum()) for row, _ in ranked]
        assert hits.tied_from.tolist() == tied
        assert hits.tied_to.tolist() == [int((scores >= scores[row]).sum()) for row, _ in ranked]


@compiled
@pytest.mark.parametrize("falls", [True, False], ids=["sorted", "unsorted"])
def test_integers_with_one_score_stand_in_the_order_of_their_text(falls):
    signed = [-5, -3, -12, -120, 7, 0, 70, -(2**63), 2**63 - 1, 9]
    for layout, ids in ((int64, signed), (uint64, [2**64 - 1, 2**63, 5, 18, 0, 184])):
        scores = [1.0] * len(ids) + ([0.5] if falls else [2.0])
        hits = reduce([0, len(scores)], layout([*ids, 1]), scores, [0, len(ids)], layout(ids))
        assert [ids[at] for at in hits.judgment.tolist()] == sorted(ids, key=str, reverse=True)


@compiled
def test_every_copy_of_an_item_is_a_hit_where_repeats_are_kept():
    items = texts_of([b"a"] * 1000 + [b"b"] * 1000)
    hits = reduce([0, 2000], items, np.zeros(2000), [0, 2], texts_of([b"b", b"a"]), repeats="keep")
    assert hits.row.tolist() == [*range(1000, 2000), *range(1000)]
    assert hits.rank.tolist() == list(range(1, 2001))
    assert set(hits.tied_to.tolist()) == {2000}


@compiled
def test_an_item_may_be_judged_several_times():
    """As trec_eval's judgments may be: each of them is a hit, more than there are rows."""
    judged = texts_of([b"a", b"a", b"b", b"a"])
    hits = reduce([0, 2], texts_of([b"a", b"b"]), [2.0, 1.0], [0, 4], judged)
    assert hits.judgment.tolist() == [0, 1, 3, 2]
    assert hits.row.tolist() == [0, 0, 0, 1]
    assert hits.rank.tolist() == [1, 1, 1, 2]


@compiled
@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_finite_number_is_refused(score):
    items = texts_of([b"a", b"b", b"c"])
    with pytest.raises(ValueError, match="the score of row 1 is not a finite number"):
        reduce([0, 3], items, [3, score, 1], [0, 1], texts_of([b"a"]))


@compiled
def test_ids_may_be_huge():
    one, other = b"x" * 10_000_000 + b"1", b"x" * 10_000_000 + b"2"
    for layout in (spans, texts_of, codes):
        hits = reduce([0, 2], layout([one, other]), [1, 1], [0, 1], layout([other]))
        assert (hits.row.tolist(), hits.rank.tolist(), hits.tied_to.tolist()) == ([1], [1], [2])


@compiled
def test_ids_whose_bits_are_alike_do_not_crowd_the_table():
    """Ids of equal lower or upper bits, or equal words: seconds where they met in one slot."""
    for ids in (np.arange(100_000) << 40, np.arange(100_000) * 2**20, np.arange(100_000) << 46):
        assert len(reduce([0, len(ids)], int64(ids), None, [0, 1], int64([ids[7]])).row) == 1
    for form in ("{:08d}" + "0" * 32, "0" * 32 + "{:08d}", "{0:08d}{0:08d}{0:08d}"):
        texts = [form.format(one).encode() for one in range(50_000)]
        assert (
            len(reduce([0, len(texts)], texts_of(texts), None, [0, 1], texts_of(texts[7:8])).row)
            == 1
        )


@compiled
def test_threads_share_nothing():
    rng = np.random.default_rng(1)
    items, scores = rng.permutation(20_000), rng.integers(0, 50, 20_000)
    column, judged = int64(items), int64(np.arange(0, 20_000, 7))
    wanted = reduce([0, 20_000], column, scores, [0, len(judged)], judged)
    found = []

    def work():
        for _ in range(5):
            found.append(reduce([0, 20_000], column, scores, [0, len(judged)], judged))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    for hits in found:
        for one, other in zip(hits[:6], wanted[:6], strict=True):
            assert np.array_equal(one, other)


# --- The library -----------------------------------------------------------------------------------


def ask(kernel, code="from germane.kernel import library; print(library.name_kernel())"):
    environment = {**os.environ, "GERMANE_KERNEL": kernel}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )


def test_the_kernel_can_be_put_aside():
    assert ask("0").stdout == "plain\n"


@compiled
@pytest.mark.skipif("GERMANE_KERNEL" in os.environ, reason="another library is tested")
def test_the_kernel_can_be_asked_for():
    assert ask("1").stdout == ask("").stdout == "compiled\n"
    assert ask(str(library._find_library())).stdout == "compiled\n"


def test_a_library_that_is_not_there_is_an_error():
    done = ask("/no/such/library.so")
    assert done.returncode
    assert "GERMANE_KERNEL=/no/such/library.so: " in done.stderr


def test_a_library_of_another_source_is_never_loaded(tmp_path):
    """A copy of the package whose source has changed since it was compiled."""
    copy = tmp_path / "germane"
    shutil.copytree(ROOT / "src/germane", copy, ignore=shutil.ignore_patterns("__pycache__"))
    source = copy / "kernel/reduce.c"
    source.write_bytes(source.read_bytes() + b"\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from germane.kernel import library; "
    )
    assert ask("", code + "print(library.name_kernel())").stdout == "plain\n"
    done = ask("1", code + "library.name_kernel()")
    assert "GERMANE_KERNEL=1 requires the compiled kernel" in done.stderr


def build_copy(folder, compiler):
    """Compile a copy of the kernel as an installation does."""
    kernel = folder / "src/germane/kernel"
    kernel.mkdir(parents=True)
    shutil.copy(ROOT / "hatch_build.py", folder)
    shutil.copy(ROOT / "src/germane/kernel/reduce.c", kernel)
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    command = [sys.executable, folder / "hatch_build.py"]
    return kernel, subprocess.run(
        command, capture_output=True, text=True, env=environment | {"CC": compiler}
    )


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.slow
def test_an_installation_compiles_the_kernel_of_its_source(tmp_path):
    kernel, done = build_copy(tmp_path, "cc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    made = [path.name for path in kernel.iterdir()]
    checksum = zlib.crc32((kernel / "reduce.c").read_bytes())
    assert sorted(made) == [f"reduce-{checksum:08x}.library", "reduce.c"]


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false", "cc --no-such-option"])
def test_an_installation_goes_on_without_a_compiler(tmp_path, compiler):
    kernel, done = build_copy(tmp_path, compiler)
    assert done.stderr == "no C compiler made a library of the kernel; germane works without it\n"
    assert [path.name for path in kernel.iterdir()] == ["reduce.c"]
