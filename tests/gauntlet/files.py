"""TREC files, damaged in every way in which files are."""

import bz2
import gzip
import json
import lzma
from dataclasses import dataclass

import pyarrow as pa

from gauntlet.case import (
    COMPOSED,
    DECOMPOSED,
    DENORMAL,
    ONLY_DOUBLE,
    ONLY_Q2,
    ORDER,
    Q2_NOT_RELEVANT,
    QRELS,
    RUN,
    SIGNED_ZEROS,
    TIED,
    WITHOUT_Q3,
    Judged,
    Outcome,
    changed,
    each,
    judged,
    refused,
    renamed,
    reversed_lists,
    rows,
    value,
    warns,
)  # fmt: skip


def qrels_text(given: Judged = QRELS, blank: str = " ") -> str:
    return "".join(blank.join((q, "0", item, str(grade))) + "\n" for q, item, grade in rows(given))


def run_text(given: Judged = RUN, blank: str = " ", tag: str = "myrun") -> str:
    lines = []
    for query, results in given.items():
        for rank, (item, score) in enumerate(results.items(), 1):
            lines.append(blank.join((query, "Q0", item, str(rank), str(score), tag)) + "\n")
    return "".join(lines)


def zstd(data: bytes) -> bytes:
    """Compressed by Zstandard, without a checksum."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


Q, R = qrels_text(), run_text()


@dataclass(frozen=True)
class FileCase:
    outcome: Outcome
    qrels: str | bytes = Q
    run: str | bytes = R
    suffixes: tuple[str, str] = ("", "")  # of the two files
    way: str = "files"  # how the run (or, qrels-…, the qrels) reaches the tool
    blamed: str = "run"  # the file that an error names


def score(written: str, outcome: Outcome) -> FileCase:
    """The fifth score written another way."""
    return FileCase(outcome, run=R.replace("d03 5 5.0", f"d03 5 {written}"))


def grade(written: str, outcome: Outcome) -> FileCase:
    """The first grade written another way."""
    qrels = Q.replace("q1 0 d01 2", f"q1 0 d01 {written}")
    return FileCase(outcome, qrels=qrels, blamed="qrels")


def _renamed(new: str) -> tuple[str, str]:
    return Q.replace("d01", new), R.replace("d01", new)


def _both(new: str, outcome: Outcome | None = None) -> FileCase:
    """One item called something else in both files."""
    return FileCase(outcome or value(), *_renamed(new))


_LONG = "D" * (10 << 20)
_FIVE = "".join(line.rpartition(" ")[0] + "\n" for line in R.splitlines())
_THREE = "".join(f"{q} {item} {grade}\n" for q, item, grade in rows(QRELS))
_PASSAGES = "".join(f"{q}\t{item}\t{n}\n" for n, (q, item, _) in enumerate(rows(RUN), 1))
_HEADER = "query_id iter doc_id relevance\n"
_MIXED = "".join(R.splitlines(True)[i] for i in (0, 6, 9, 1, 7, 10, 2, 8, 3, 4, 5))
_DISTANCES = judged(
    ("q1", "d01", 1.0), ("q1", "d02", 2.0), ("q1", "d03", 3.0), ("q1", "d04", 4.0),
    ("q2", "d13", 0.1), ("q2", "d11", 0.2), ("q2", "d12", 0.3), ("q3", "d21", 0.5),
    ("q3", "d22", 0.7),
)  # fmt: skip
_WHOLE_SCORES = each(RUN, int)
_GZ = gzip.compress(R.encode(), mtime=0)
_WRONG_SUM = _GZ[:-6] + bytes([_GZ[-6] ^ 0xFF]) + _GZ[-5:]
_ZST = zstd(R.encode())
_NUL_LINE = R.encode().split(b"\n")
_NUL_LINE[3] = b"\0" + _NUL_LINE[3]
_OTHER_RUN = each(RUN, lambda score: round(10 - score, 2))

LINES = {
    "clean": FileCase(value()),
    "five fields everywhere": FileCase(refused("5 fields", line=1), run=_FIVE),
    "five fields once": FileCase(
        refused("5 fields", line=5), run=R.replace("d03 5 5.0 myrun", "d03 5 5.0")
    ),
    "MS MARCO": FileCase(refused("3 fields", line=1), run=_PASSAGES),
    "words after the tag": FileCase(value(), run=R.replace("8.25 myrun", "8.25 myrun more junk")),
    "qrels of three fields": FileCase(refused("3 fields", line=1), qrels=_THREE, blamed="qrels"),
    "qrels of five fields once": FileCase(
        refused("5 fields", line=2), qrels=Q.replace("d02 0", "d02 0 x"), blamed="qrels"
    ),
    "several blanks": FileCase(value(), qrels_text(blank="   "), run_text(blank="    ")),
    "CRLF": FileCase(value(), Q.replace("\n", "\r\n"), R.replace("\n", "\r\n")),
    "CR": FileCase(value(), run=R.replace("\n", "\r")),
    "no last newline": FileCase(value(), Q[:-1], R[:-1]),
    "blank lines in a run": FileCase(value(), run=R.replace("q2 Q0 d13", "\n  \nq2 Q0 d13")),
    "blank lines in qrels": FileCase(value(), qrels=Q.replace("q2 0 d11", "\n  \nq2 0 d11")),
    "a comment in a run": FileCase(value(), run="# a comment\n" + R),
    "a comment in qrels": FileCase(value(), qrels="# a comment\n" + Q),
    "a header in qrels": FileCase(
        refused("relevance", "header", line=1), qrels=_HEADER + Q, blamed="qrels"
    ),
    "headers in both": FileCase(
        refused("relevance", "header", line=1),
        _HEADER + Q,
        "query_id Q0 doc_id rank score tag\n" + R,
        blamed="qrels",
    ),
    "JSON": FileCase(refused("JSON", line=1), run=json.dumps(RUN, separators=(", ", ": ")) + "\n"),
    "commas": FileCase(refused("CSV", line=1), run=run_text(blank=",")),
    "swapped": FileCase(refused("swapped", line=1), R, Q, blamed="qrels"),
    "swapped, with whole scores": FileCase(
        refused("swapped", line=1), run_text(_WHOLE_SCORES), Q, blamed="qrels"
    ),
    "queries not in a row": FileCase(value(), run=_MIXED),
    "an id with a blank between tabs": FileCase(
        refused("expected 6 fields", "contains a blank", line=2),
        qrels_text(blank="\t"),
        run_text(blank="\t").replace("\td01\t", "\tdoc 01\t"),
    ),
    "an id with a number among its words, between tabs": FileCase(
        refused("expected 6 fields", "contains a blank", line=2),
        qrels_text(blank="\t"),
        run_text(blank="\t").replace("\td01\t", "\tthe top 10 hits\t"),
    ),
    "an ideographic space in an id": _both("d\u300001"),
    "a NEL in an id": _both("d\u008501"),
    "no score between tabs": FileCase(
        refused("5 fields", line=3), run=run_text(blank="\t").replace("\t7.0\t", "\t\t")
    ),
    "an id of ten megabytes": FileCase(
        refused("longer than 1,048,576 bytes", line=1),
        Q.replace("d01", _LONG),
        R.replace("d01", _LONG),
        blamed="qrels",
    ),
    "lines that end in a vertical tab": FileCase(
        refused("56 fields", "U+000B", line=1), run=R.replace("\n", "\v")
    ),
    "lines that end in U+2028": FileCase(
        refused("56 fields", "U+2028", line=1), run=R.replace("\n", "\u2028")
    ),
    "a form feed behind the tag": FileCase(value(), run=R.replace("8.25 myrun", "8.25 my\frun x")),
    "cut in a line": FileCase(refused("3 fields", line=11), run=R[: R.rindex("d21") + 2]),
}

BYTES = {
    "a byte-order mark before a run": FileCase(value(), run="\ufeff" + R),
    "a byte-order mark before qrels": FileCase(value(), qrels="\ufeff" + Q),
    "UTF-16": FileCase(refused("UTF-16"), Q.encode("utf-16"), R.encode("utf-16"), blamed="qrels"),
    "Latin-1": FileCase(value(), *(text.encode("latin-1") for text in _renamed("d\xe901"))),
    "a NUL in an id": FileCase(refused("NUL", line=2), run=R.encode().replace(b"d01", b"d0\x001")),
    "a NUL before a line": FileCase(refused("NUL", line=4), run=b"\n".join(_NUL_LINE)),
    "a hole of NULs": FileCase(
        refused("NUL", line=3), run=R[:60].encode() + bytes(4096) + R[60:].encode()
    ),
    "composed and decomposed letters": FileCase(
        warns("Unicode normalization", COMPOSED, DECOMPOSED),
        qrels_text(COMPOSED),
        run_text(DECOMPOSED),
    ),
    "Ctrl-Z at the end": FileCase(
        refused("1 field", line=11), Q + "\x1a", R + "\x1a", blamed="qrels"
    ),
}

ROWS = {
    "a run that is one newline": FileCase(refused("is empty"), run="\n"),
    "two runs in one": FileCase(
        refused("retrieved twice", "d02"), run=R + run_text(_OTHER_RUN, tag="other")
    ),
    "a judgment repeated": FileCase(
        refused("judged twice", "d01", line=11), qrels=Q + "q1 0 d01 2\n", blamed="qrels"
    ),
    "tied": FileCase(warns(ORDER, run=TIED), run=run_text(TIED)),
    "tied, the other way round": FileCase(
        warns(ORDER, run=TIED), run="".join(run_text(TIED).splitlines(True)[::-1])
    ),
    "signed zeros": FileCase(warns(ORDER, run=SIGNED_ZEROS), run=run_text(SIGNED_ZEROS)),
    "signed zeros, the other way round": FileCase(
        warns(ORDER, run=SIGNED_ZEROS), run=run_text(reversed_lists(SIGNED_ZEROS))
    ),
    "denormal scores": FileCase(value(run=DENORMAL), run=run_text(DENORMAL)),
    "scores that only doubles tell apart": FileCase(
        value(run=ONLY_DOUBLE), run=run_text(ONLY_DOUBLE)
    ),
    "ranks against scores": FileCase(
        warns("rank column contradicts", run=_DISTANCES), run=run_text(_DISTANCES)
    ),
    "ranks in words": FileCase(value(), run=R.replace(" 1 ", " first ").replace(" 2 ", " second ")),
    "every judgment of a query -1": FileCase(
        warns("no relevant item", Q2_NOT_RELEVANT, also="'q2'"),
        qrels=qrels_text({**QRELS, "q2": dict.fromkeys(QRELS["q2"], -1)}),
    ),
    "every judgment of a query -2": FileCase(
        warns("no relevant item", Q2_NOT_RELEVANT, also="'q2'"),
        qrels=qrels_text({**QRELS, "q2": dict.fromkeys(QRELS["q2"], -2)}),
    ),
    "a query without a relevant item": FileCase(
        warns("no relevant item", Q2_NOT_RELEVANT), qrels=qrels_text(Q2_NOT_RELEVANT)
    ),
    "a judged query missing": FileCase(
        warns("missing from the run", run=WITHOUT_Q3), run=run_text(WITHOUT_Q3)
    ),
    "only the easiest query": FileCase(
        warns("missing from the run", run=ONLY_Q2), run=run_text(ONLY_Q2)
    ),
    "no query in common": FileCase(
        refused("no query of", "'xq1'"), run=run_text(renamed(RUN, lambda q: f"x{q}"))
    ),
    "leading zeros in the queries of one": FileCase(
        refused("no query of", "leading zeros"),
        qrels_text(renamed(QRELS, lambda q: f"0{q[1:]}")),
        run_text(renamed(RUN, lambda q: q[1:])),
    ),
    "a query in capitals": FileCase(
        warns("letter case", run={q: RUN[q] for q in ("q1", "q3")}), run=R.replace("q2", "Q2")
    ),
}

NUMBERS = {
    "a word for a score": score("abc", refused("finite number", "'abc'", line=5)),
    "every score NaN": FileCase(
        refused("finite number", "'nan'", line=1), run=run_text(each(RUN, lambda s: "nan"))
    ),
    "an infinite score": score("inf", refused("finite number", "'inf'", line=5)),
    "a score beyond doubles": score("1e400", refused("range", "'1e400'", line=5)),
    "a score with an underscore": score("1_0", refused("number", "'1_0'", line=5)),
    "a hexadecimal score": score("0x1F", refused("number", "'0x1F'", line=5)),
    "full-width digits": score("\uff19\uff19", refused("number", "\uff19\uff19", line=5)),
    "None for a score": score("None", refused("number", "'None'", line=5)),
    "a letter after a score": score("5.0x", refused("number", "'5.0x'", line=5)),
    "grade -2": grade("-2", value(changed(QRELS, ("q1", "d01", -2)))),
    "grade 0.5": grade("0.5", value(changed(QRELS, ("q1", "d01", 0.5)))),
    "grade 1e2": grade("1e2", value(changed(QRELS, ("q1", "d01", 100)))),
    "grade 2^40": grade(str(2**40), value(changed(QRELS, ("q1", "d01", 2**40)))),
    "grade 2^63": grade(str(2**63), refused("beyond the range", str(2**63), line=1)),
    "grade NaN": grade("nan", refused("finite number", "'nan'", line=1)),
}

WAYS = {
    "gzip": FileCase(value(), run=_GZ, suffixes=("", ".gz")),
    "both gzip": FileCase(
        value(), gzip.compress(Q.encode(), mtime=0), _GZ, suffixes=(".gz", ".gz")
    ),
    "gzip in two members": FileCase(
        value(),
        run=gzip.compress(R[:200].encode()) + gzip.compress(R[200:].encode()),
        suffixes=("", ".gz"),
    ),
    "gzip by no such name": FileCase(value(), run=_GZ),
    "text called .gz": FileCase(value(), suffixes=("", ".gz")),
    "bzip2": FileCase(value(), run=bz2.compress(R.encode()), suffixes=("", ".bz2")),
    "xz": FileCase(value(), run=lzma.compress(R.encode()), suffixes=("", ".xz")),
    "gzip without its end": FileCase(refused("truncated"), run=_GZ[:-8], suffixes=("", ".gz")),
    "gzip with a wrong checksum": FileCase(
        refused("damaged", "CRC"), run=_WRONG_SUM, suffixes=("", ".gz")
    ),
    "a folder": FileCase(refused("directory"), way="folder"),
    "no run": FileCase(refused("no such file"), way="absent"),
    "no qrels": FileCase(refused("no such file"), way="qrels-absent", blamed="qrels"),
    "no permission": FileCase(refused("no permission"), way="forbidden"),
    "a pipe": FileCase(value(), way="pipe"),
    "a pipe of qrels": FileCase(value(), way="qrels-pipe"),
    "standard input": FileCase(value(), way="stdin"),
    "/dev/null": FileCase(refused("is empty"), way="null", blamed="null"),
    "a link to itself": FileCase(refused("cannot be read (Too many"), way="loop"),
    "a reader that has gone": FileCase(refused(), way="closed"),
    "gzip of one byte": FileCase(refused("truncated"), run=_GZ[:1], suffixes=("", ".gz")),
    "Zstandard damaged at its end": FileCase(
        refused("damaged"), run=_ZST[:-1] + bytes([_ZST[-1] ^ 0xFF]), suffixes=("", ".zst")
    ),
    "Zstandard and something else": FileCase(refused("damaged"), run=_ZST + b"more"),
}

CASES = {**LINES, **BYTES, **ROWS, **NUMBERS, **WAYS}
