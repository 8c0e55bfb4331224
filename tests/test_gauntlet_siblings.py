"""The gauntlet's cases elsewhere: in every line, in other forms of file, far behind, cut at every byte."""

import bz2
import gzip
import json
import lzma
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import germane
from germane.errors import FormatError, GermaneError, GradeError, InputError, ScoreError

from gauntlet.files import Q, R, zstd

BAD_NUMBERS = [
    "nan", "-nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1_0", "0x1F", "0x1p3", "1,5",
    "abc", "None", "null", "True", ".", "-", "+", "--5", "5.0x", "5.0.0", "1e", "1e+", "5%", "(5)", "1/2",
    "\uff19\uff19", "\u0663", "\u22125", "\u00bd",
]  # fmt: skip
FORMS: dict[str, Callable[[str], bytes]] = {
    "blanks": str.encode,
    "tabs": lambda text: text.replace(" ", "\t").encode(),
    "several blanks": lambda text: text.replace(" ", "  ").encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "a mark and no last newline": lambda text: b"\xef\xbb\xbf" + text[:-1].encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
}


def replaced(text: str, line: int, field: int, new: str) -> str:
    lines = [one.split(" ") for one in text.splitlines()]
    lines[line][field] = new
    return "".join(" ".join(one) + "\n" for one in lines)


def refused(folder: Path, qrels: bytes, run: bytes, error: type[GermaneError], *words: str) -> None:
    (folder / "qrels").write_bytes(qrels)
    (folder / "run").write_bytes(run)
    with pytest.raises(error) as raised:
        germane.evaluate(folder / "qrels", folder / "run")
    for word in words:
        assert word in str(raised.value), raised.value


# --- Every line, in every form ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_a_bad_number_in_any_line(bad: str, form: str, tmp_path: Path) -> None:
    write = FORMS[form]
    """Some of the lines for each number: all numbers together go through every line."""
    first = BAD_NUMBERS.index(bad) % 2
    for line in range(first, R.count("\n"), 2):
        run = write(replaced(R, line, 4, bad))
        refused(tmp_path, write(Q), run, ScoreError, f"run:{line + 1}: ", "score", bad)
    for line in range(first, Q.count("\n"), 2):
        qrels = write(replaced(Q, line, 3, bad))
        refused(tmp_path, qrels, write(R), GradeError, f"qrels:{line + 1}: ", "grade", bad)


@pytest.mark.parametrize("form", FORMS)
def test_a_field_too_few_or_too_many_in_any_line(form: str, tmp_path: Path) -> None:
    write = FORMS[form]
    for line in range(R.count("\n")):
        lines = R.splitlines(keepends=True)
        lines[line] = lines[line].rpartition(" ")[0] + "\n"
        refused(
            tmp_path, Q.encode(), write("".join(lines)), FormatError, f"run:{line + 1}: 5 fields"
        )
    for line in range(Q.count("\n")):
        for new in ("{} 1\n", "x {}\n"):
            lines = Q.splitlines(keepends=True)
            lines[line] = new.format(lines[line].strip())
            where = f"qrels:{line + 1}: 5 fields"
            refused(tmp_path, write("".join(lines)), R.encode(), FormatError, where)


@pytest.mark.parametrize("form", ["blanks", "tabs", "CRLF"])
def test_a_nul_byte_anywhere(form: str, tmp_path: Path) -> None:
    """Inside and instead of a byte, at any place of either file."""
    run, qrels = FORMS[form](R), FORMS[form](Q)
    inside = {*range(0, max(len(run), len(qrels)), 3)}
    for at in sorted(inside & {n for n in range(len(run)) if run[n - 1 : n] != b"\r"}):
        line = run.count(b"\n", 0, at) + 1
        refused(tmp_path, qrels, run[:at] + b"\0" + run[at:], FormatError, f"run:{line}: ", "NUL")
    for at in sorted(inside & {n for n in range(len(qrels)) if qrels[n - 1 : n] != b"\r"}):
        line = qrels.count(b"\n", 0, at) + 1
        refused(
            tmp_path, qrels[:at] + b"\0" + qrels[at:], run, FormatError, f"qrels:{line}: ", "NUL"
        )


def test_a_run_cut_at_any_byte_is_refused_or_whole_lines(tmp_path: Path) -> None:
    """What is left of the last line is no line, unless all but its tag is there."""
    (tmp_path / "qrels").write_text(Q)
    for at in range(1, len(R)):
        (tmp_path / "run").write_text(R[:at])
        last = R[:at].rpartition("\n")[2].split()
        if 0 < len(last) < 6 and not (len(last) == 5 and R[at - 1] == " "):
            with pytest.raises(InputError):
                germane.evaluate(tmp_path / "qrels", tmp_path / "run")


# --- Far behind ------------------------------------------------------------------------------------

ROWS = 60_000


def long_run(kind: str) -> Iterator[str]:
    """Lines that are all alike, that differ in form, or that come back to their queries."""
    for n in range(ROWS):
        query = n % 50 if kind == "scattered" else n // 1200
        score = f"{ROWS - n:.3f}" if kind == "alike" else f"{(ROWS - n) / 7:.{1 + n % 5}f}"
        yield f"q{query:02} Q0 d{n:07} {n} {score} tag"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alike", "different", "scattered"])
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (" tag", "", "5 fields"),
        (" Q0 ", " Q0 x ", "7 fields"),
        (" Q0 d", " Q0 \0", "NUL"),
        (".", "_", "finite number"),
        (".", ",", "finite number"),
        (" tag", "e999 tag", "range"),
        (".", "x", "finite number"),
    ],
)
def test_far_behind(old: str, new: str, words: str, kind: str, tmp_path: Path) -> None:
    lines = list(long_run(kind))
    for line in (30_001, ROWS - 1):
        damaged = [*lines]
        damaged[line] = damaged[line].replace(old, new, 1)
        run = "\n".join(damaged).encode()
        refused(tmp_path, b"q00 0 d0000000 1\n", run, InputError, f"run:{line + 1}: ", words)


@pytest.mark.parametrize("kind", ["alike", "different", "scattered"])
def test_duplicates_far_behind(kind: str, tmp_path: Path) -> None:
    lines = list(long_run(kind))
    query = lines[-1].split()[0]
    first = next(n for n, line in enumerate(lines) if line.startswith(query))
    lines.append(lines[first].replace(" tag", " again"))
    run = "\n".join(lines).encode()
    words = f"run:{ROWS + 1}: ", "twice", f"as on line {first + 1}"
    refused(
        tmp_path, f"{query} 0 d0000000 1\n".encode(), run, germane.errors.DuplicateError, *words
    )


# --- Files of columns ------------------------------------------------------------------------------

CSV = "query_id,doc_id,score\n" + "".join(
    ",".join(line.split()[0:5:2]) + "\n" for line in R.splitlines()
)
SEPARATED = {"csv": CSV, "tsv": CSV.replace(",", "\t")}


@pytest.mark.parametrize("kind", SEPARATED)
@pytest.mark.parametrize("packed", [False, True])
def test_a_line_of_separated_columns(kind: str, packed: bool, tmp_path: Path) -> None:
    """The error names the line and what stands there, behind as many lines as there are."""
    (tmp_path / "qrels").write_text(Q)
    comma = SEPARATED[kind][8]
    lines = SEPARATED[kind].splitlines(keepends=True)
    path = tmp_path / f"run.{kind}{'.gz' * packed}"

    def told(at: int, new: str, error: type[GermaneError], *words: str) -> None:
        text = "".join([*lines[:at], new + "\n", *lines[at + 1 :]]).encode()
        path.write_bytes(gzip.compress(text) if packed else text)
        with pytest.raises(error) as raised:
            germane.evaluate(tmp_path / "qrels", path)
        for word in (f"{path}:{at + 1}: ", *words):
            assert word in str(raised.value)

    for at in (1, 5, len(lines) - 1):
        query, item, score = lines[at].strip().split(comma)
        for bad in (bad for bad in BAD_NUMBERS if bad.strip("+-").casefold() not in FINE):
            if comma not in bad:
                told(at, comma.join((query, item, bad)), ScoreError, "score", repr(bad))
        told(at, comma.join((query, item)), FormatError, "2 fields", "3 columns")
        told(at, comma.join((query, item, score, "x")), FormatError, "4 fields", "3 columns")
        told(at, "x", FormatError, "1 field ", "'x'")


WHOLE_FILES = {
    "no header": ("tsv", CSV.partition("\n")[2].replace(",", "\t"), "is the header missing?"),
    "scores in the place of ranks": ("tsv", "q1\td1\t9\nq1\td2\t8.5\n",
                                     "is the header missing?"),
    "a hole in an id": ("csv", CSV.replace("d03", "d\x003"), "column 'doc_id', row 4: the id has a NUL"),
    "a hole in a query": ("tsv", CSV.replace("q2", "q\x00", 1).replace(",", "\t"), "row 6: the id has a NUL"),
    "a header and no line feed": ("csv", "query_id,doc_id,score", "there are no rows"),
    "a line of two megabytes": ("csv", CSV + f"q3,{'d' * (2 << 20)},0", "a line is longer than 1 MB"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WHOLE_FILES)
def test_files_of_columns_that_are_refused(kind: str, tmp_path: Path) -> None:
    suffix, text, words = WHOLE_FILES[kind]
    (tmp_path / "qrels").write_text(Q)
    path = tmp_path / f"run.{suffix}"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        germane.evaluate(tmp_path / "qrels", path)
    assert str(raised.value).startswith(f"{path}")
    assert words in str(raised.value)


FINE = {"nan", "inf", "infinity", "1e400", "null", "none", ""}
"""What Arrow takes for a number or for a missing one; the row is named then."""


OTHER_FILES = {
    "Parquet": b"PAR1\x15\x04", "Arrow": b"ARROW1\0\0", "zip": b"PK\3\4\x14\0", "7-Zip": b"7z\xbc\xaf\x27\x1c",
    "LZ4": b"\x04\x22\x4d\x18\0", "compress": b"\x1f\x9d\x90", "NumPy": b"\x93NUMPY\1\0",
    "compressed twice": gzip.compress(gzip.compress(R.encode())), "UTF-16": R.encode("utf-16"),
    "UTF-32": R.encode("utf-32"),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHER_FILES)
@pytest.mark.parametrize("form", ["trec", "csv", "jsonl"])
def test_files_that_are_not_text(kind: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(OTHER_FILES[kind] + bytes(range(1, 256)))
    with pytest.raises(InputError) as raised:
        germane.evaluate({"q1": {"d": 1}}, tmp_path / "run", input_format=form)
    assert f"{tmp_path}/run: " in str(raised.value)
    assert kind in str(raised.value) or "damaged" in str(raised.value)


NULS = {
    "UTF-16, little end first": R.encode("utf-16-le"),
    "UTF-16, big end first": R.encode("utf-16-be"),
    "an archive": b"run.txt" + bytes(93) + b"0000644" + bytes(400) + R.encode(),
    "a data base": b"SQLite format 3" + bytes(85),
    "a hole": R.encode()[:200] + bytes(4096) + R.encode()[200:],
    "an end": R.encode() + b"\0",
}


@pytest.mark.parametrize("kind", NULS)
def test_nul_bytes_are_called_utf_16_where_every_second_byte_is_one(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "run").write_bytes(NULS[kind])
    with pytest.raises(FormatError, match="NUL byte") as raised:
        germane.evaluate({"q1": {"d": 1}}, tmp_path / "run")
    assert ("UTF-16?" in str(raised.value)) == kind.startswith("UTF-16")


NO_PATHS = {
    "text of a file": (R, "looks like the content of a file"),
    "a long text": ("q1" * 4000, "looks like the content of a file"),
    "a name and a line feed": ("qrels\n", r"'qrels\n': there is no such file"),
    "a blank": (" ", "' ': there is no such file"),
    "half a pair": ("\ud800", r"'\ud800': there is no such file"),
    "NUL": ("a\0b", r"'a\x00b': there is no such file"),
    "a name too long for a file": ("a" * 300, "there is no such file"),
}


@pytest.mark.parametrize("kind", NO_PATHS)
def test_text_that_is_no_path(kind: str) -> None:
    given, words = NO_PATHS[kind]
    for qrels, run in (({"q": {"d": 1}}, given), (given, {"q": {"d": 1.0}})):
        with pytest.raises(InputError) as raised:
            germane.evaluate(qrels, run)
        assert words in str(raised.value)
        assert "\n" not in str(raised.value)


def test_json_that_has_as_many_fields_as_a_run(tmp_path: Path) -> None:
    """Whatever stands where the score should be, the line is JSON."""
    for text in (
        json.dumps({"q1": {"d1": 1.5, "d2": 2.5, "d3": 0.5}}),
        json.dumps([[1, 2, 3, 4]] * 3),
    ):
        refused(tmp_path, Q.encode(), text.encode(), InputError, "run:1: ", "JSON")


# --- Compressed files, cut and damaged -------------------------------------------------------------


SUMMED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}  # with a checksum
COMPRESSED = {**SUMMED, "zst": zstd}


def outcome(folder: Path) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return germane.evaluate(folder / "qrels", folder / "run", "AP")["AP"].mean
        except InputError as error:
            return None if str(error).startswith(f"{folder}/run") else math.nan


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_compressed_file_cut_anywhere_is_refused(kind: str, tmp_path: Path) -> None:
    data = COMPRESSED[kind](R.encode())
    (tmp_path / "qrels").write_text(Q)
    for size in range(1, len(data)):
        refused(
            tmp_path, Q.encode(), data[:size], InputError, "run: the compressed file is truncated"
        )
    for name in ("run.csv", "run.jsonl", "run.tsv"):
        (tmp_path / name).write_bytes(data[:1])
        with pytest.raises(InputError, match="the compressed file is truncated"):
            germane.evaluate(tmp_path / "qrels", tmp_path / name)


@pytest.mark.parametrize("kind", SUMMED)
def test_a_compressed_file_damaged_anywhere_gives_no_other_number(
    kind: str, tmp_path: Path
) -> None:
    """A byte of the header may not matter."""
    data = SUMMED[kind](R.encode())
    (tmp_path / "qrels").write_text(Q)
    (tmp_path / "run").write_text(R)
    right = outcome(tmp_path)
    for at in range(len(data)):
        (tmp_path / "run").write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        assert outcome(tmp_path) in (None, right), at
