"""What is fuzzed: each target takes any bytes, and nothing but an error of germane's own may leave.

A target says more than that where something else knows the answer: lines are read as the
line-by-line parser reads them, a file is evaluated as the dicts that hold its rows, and the name of
a measure is read back from what it prints.
"""

import contextlib
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import germane
from germane import GermaneError, cli
from germane.dialects.names import parse_all
from germane.kernel import library
from germane.kernel.ids import to_text
from germane.readers.files import line_blocks, trec
from germane.readers.files.formats import FORMATS

CUT = b"\n%%\n"
"""What separates the files that one input holds."""

Outcome = tuple[str, Any]  # "value", or the error's class and message
Rows = list[tuple[bytes, bytes, float]]


def trec_files(data: bytes) -> None:
    """Qrels and a run: every reader of lines says the same, and dicts evaluate as the files do."""
    qrels, run = _written(data, ("qrels", "run"))
    judged, retrieved = _rows(qrels, trec.QRELS), _rows(run, trec.RUN)
    read = _evaluated(qrels, run)
    if b"#" in data:  # a line of which may be data
        return
    if judged[0] == retrieved[0] == "value" and _once(judged[1]) and _once(_of(judged, retrieved)):
        same = _evaluated(_dicts(judged[1]), _dicts(retrieved[1]))
        assert read[0] == same[0], (read, same)
        assert read == same or read[0] != "value", (read, same)
    else:
        assert read[0] != "value", (judged, retrieved, read)
        _evaluated(qrels, run, duplicates="last")


def names(data: bytes) -> None:
    """A measure's name: what it prints is read as the same measure, and its formula can be told."""
    text = data.decode("utf-8", "surrogateescape")
    kind, measures = _outcome(lambda: parse_all(text))
    if kind == "value":
        for measure in measures:
            assert germane.parse(str(measure)) == measure
            assert measure.definition
            assert measure.explanation
    _outcome(lambda: germane.parse(text))


def trec_eval(data: bytes) -> None:
    """Arguments, a line each, then qrels, a run and a file of means; Q, R and Z stand for these."""
    arguments, *texts = data.split(CUT)
    words = [os.fsdecode(word) for word in arguments.split(b"\n")]
    if b"/" in arguments or b"\0" in arguments or "-" in words:
        return  # no file but these is read; a shell cannot hand on a NUL
    paths = dict(zip("QRZ", _written(CUT.join(texts), ("qrels", "run", "zscores")), strict=True))
    with _streams():
        status = cli.main(["trec_eval", *(str(paths.get(word, word)) for word in words)])
        assert status in (0, 1, 2, 4, 7, 255), status


def columns(data: bytes) -> None:
    """Files of every other kind: the first byte says which."""
    others = [name for name in FORMATS if name not in ("trec", "arrow", "parquet")]
    chosen = others[data[0] % len(others)] if data else "csv"
    qrels, run = _written(data[1:], ("qrels", "run"))
    _evaluated(qrels, run, input_format=chosen)
    _evaluated(run, qrels, input_format=chosen, duplicates="max")


def records(data: bytes) -> None:
    """A record, as verify, gate and audit read it."""
    (record,) = _written(data, ("record.json",))
    kind, results = _outcome(lambda: germane.read_results(record))
    if kind == "value":
        assert [measure.mean for result in results.values() for measure in result.values()]
    _outcome(lambda: germane.verify(record, QRELS, RUN))
    _outcome(lambda: germane.gate(QRELS, RUN, "AP", baseline=record))
    _outcome(lambda: germane.audit(record))


def coco(data: bytes) -> None:
    """Truths and detections as COCO's JSON: a value of AP is a share, or NaN without a truth."""
    truth, detections = _written(data, ("truth.json", "detections.json"))
    kind, result = _outcome(lambda: germane.boxes.evaluate(truth, detections, "AP50 AR@10"))
    if kind == "value":
        assert all(one.mean != one.mean or 0 <= one.mean <= 1 + 1e-9 for one in result.values())
    _outcome(lambda: germane.boxes.check(truth, detections))


QRELS, RUN = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}, {"q1": {"a": 0.5, "d": 0.7}, "q2": {"c": 1}}

TARGETS: dict[str, Callable[[bytes], None]] = {
    "trec": trec_files,
    "names": names,
    "trec_eval": trec_eval,
    "columns": columns,
    "records": records,
    "coco": coco,
}


# ---------------------------------------------------------------------------------------- outcomes


def _outcome(asked: Callable[[], Any]) -> Outcome:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", germane.GermaneWarning)
            return "value", asked()
    except GermaneError as error:
        message = str(error)
        assert message
        return type(error).__name__, message


def _evaluated(qrels: Any, run: Any, **more: Any) -> Outcome:
    def evaluated() -> dict[str, dict[Any, float]]:
        result = germane.evaluate(qrels, run, "AP nDCG infAP P@5", **more)
        return {name: one.per_query for name, one in result.items()}

    return _outcome(evaluated)


def _rows(path: Path, layout: trec.Layout) -> Outcome:
    """The rows of a file, which must not depend on how its lines are read."""
    right = _read(path, layout, "line by line", line_blocks.BLOCK)
    readers = (
        ("compiled", line_blocks.BLOCK),
        ("compiled", 64),
        ("line by line", 64),
        ("plain", 256),
    )
    for reader, block in readers:
        read = _read(path, layout, reader, block)
        assert read == right or _is_damaged(right), (reader, block, read, right)
    return right


def _is_damaged(read: Outcome) -> bool:
    """Is it a damaged stream? In smaller blocks, an earlier line may be wrong first."""
    return read[0] == "InputError" and "the compressed file" in read[1]


def _read(path: Path, layout: trec.Layout, reader: str, block: int) -> Outcome:
    def rows() -> Rows:
        out: Rows = []
        with line_blocks.TextFile(path) as file:
            for part in trec.read_blocks(file, layout, trec.Comments(())):
                sizes = part.offsets[1:] - part.offsets[:-1]
                queries = [q for q, n in zip(part.queries, sizes, strict=True) for _ in range(n)]
                out += zip(queries, part.items.to_bytes(), part.number.tolist(), strict=True)
        return out

    with contextlib.ExitStack() as only:
        only.enter_context(mock.patch.object(line_blocks, "BLOCK", block))
        if reader != "compiled":
            only.enter_context(mock.patch.object(library, "load_library", return_value=None))
        if reader == "line by line":
            only.enter_context(mock.patch.object(trec, "_split_plain", return_value=None))
        return _outcome(rows)


def _of(judged: Outcome, retrieved: Outcome) -> Rows:
    """The rows of queries that are judged; those of others are left out, repeated or not."""
    queries = {query for query, _, _ in judged[1]}
    return [row for row in retrieved[1] if row[0] in queries]


def _once(rows: Rows) -> bool:
    return len({row[:2] for row in rows}) == len(rows)


def _dicts(rows: Rows) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for query, item, number in rows:
        out.setdefault(to_text(query), {})[to_text(item)] = number
    return out


# ------------------------------------------------------------------------------------------- files


@lru_cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="germane-fuzz-")


def _written(data: bytes, names: tuple[str, ...]) -> list[Path]:
    """The files that an input holds; those that it lacks are empty."""
    paths = [Path(_folder().name, name) for name in names]
    texts = data.split(CUT, len(names) - 1)
    for path, text in zip(paths, texts + [b""] * len(names), strict=False):
        path.write_bytes(text)
    return paths


@contextlib.contextmanager
def _streams() -> Iterator[None]:
    """Standard streams that end nowhere."""
    nowhere = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in "ioe")
    with contextlib.ExitStack() as put:
        for name, stream in zip(("stdin", "stdout", "stderr"), nowhere, strict=True):
            put.enter_context(mock.patch.object(sys, name, stream))
        yield
