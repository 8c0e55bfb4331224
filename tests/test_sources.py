"""What is special to one kind of input: files, pipes, standard input, types of ids and scores, their order."""

import bz2
import copy
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import threading
import uuid
from collections import UserList, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from decimal import Decimal
from math import inf, isfinite, nan, nextafter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.errors import EmptyError, FormatError, GradeError, InputError, ScoreError
from results import values

import oracle
from inputs import (
    INPUTS,
    LONG,
    TREC,
    Numbered,
    Rows,
    add_blanks,
    comment,
    rank_everything,
    rows,
    run_text,
    shuffled,
    store,
    zstd,
)
from inputs import TOY_QRELS as QRELS
from inputs import TOY_RUN as RUN
from sizes import SIZES
from strategies import GRADES, ITEMS, SCORES, Judgments, Scores, collections, counted_once

MEASURES = "AP AP(norm=found)@2 nDCG P@2 R@3 RR bpref infAP Judged@3 NumRet RBP Rprec"


def per_query(qrels: Any, run: Any, **policy: Any) -> dict[str, dict[str, float]]:
    return values(germane.evaluate(qrels, run, MEASURES, **policy))


EXPECTED = per_query(QRELS, RUN)


def qrels_text(qrels: dict[str, Judgments], separator: str = " ", end: str = "\n") -> str:
    return "".join(
        separator.join((query, "0", item, repr(grade))) + end
        for query, judged in qrels.items()
        for item, grade in judged.items()
    )


FILES = {name: make(rows(RUN)) for name, make in TREC.items()}


@contextmanager
def standard_input(data: bytes) -> Iterator[None]:
    with mock.patch("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data))):
        yield


@contextmanager
def fifo(folder: Path, data: bytes) -> Iterator[Path]:
    path = folder / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,), daemon=True)
    writer.start()
    yield path
    writer.join(10)
    assert not writer.is_alive()


def test_what_the_toy_collection_holds() -> None:
    counts = asdict(germane.evaluate(QRELS, RUN).counts)
    assert {name: count for name, count in counts.items() if count} == {
        "judged": 4,
        "answered": 3,
        "missing": 1,
        "without_relevant": 1,
        "unjudged_queries": 1,
        "judged_items_retrieved": 10,
        "tied": 7,
    }


WHOLE = rank_everything(QRELS, RUN)


@pytest.mark.parametrize(
    "make",
    [
        lambda given: given.scores,
        lambda given: given.top(),
        lambda given: given.vectors(),
        lambda given: given.ranked(),
        lambda given: [np.array(row, int) for row in given.ranked()],
        lambda given: dict(enumerate(given.ranked())),
        lambda given: {
            np.int64(query): {np.int32(i): row[i] for i in np.flatnonzero(~row.mask)}
            for query, row in enumerate(given.scores)
        },
        lambda given: dict(enumerate(map(deque, given.ranked()))),
        lambda given: {q: UserList(map(np.int16, row)) for q, row in enumerate(given.ranked())},
        lambda given: {
            str(query).encode(): {(str(i) if n % 2 else i): row[i] for n, i in enumerate(got)}
            for query, (row, got) in enumerate(zip(given.scores, given.ranked(), strict=True))
        },
        lambda given: {
            str(query): {(i if i % 2 == query % 2 else str(i)): row[i] for i in got}
            for query, (row, got) in enumerate(zip(given.scores, given.ranked(), strict=True))
        },
    ],
)
def test_numbers_beside_judgments_in_a_file_of_text(
    make: Callable[[Numbered], Any], tmp_path: Path
) -> None:
    """Such a file has no integers: it means them by their digits."""
    numbered = Numbered(QRELS, WHOLE)
    judged = enumerate(numbered.judged())
    text = "".join(f"{q} 0 {i} {g:g}\n" for q, row in judged for i, g in row.items())
    trec, csv = tmp_path / "qrels.txt", tmp_path / "qrels.csv"
    trec.write_text(text)
    csv.write_text("query,q0,item,grade\n" + text.replace(" ", ","))
    names = dict(zip(map(str, range(len(numbered.queries))), numbered.queries, strict=True))
    expected = per_query(QRELS, WHOLE)
    for qrels in (trec, csv, germane.read_qrels(trec)):
        found = per_query(qrels, make(numbered), ties="given")
        assert {
            measure: {names[query]: value for query, value in values.items()}
            for measure, values in found.items()
        } == expected
    evaluator = germane.Evaluator(trec, "AP", ties="given")
    evaluator.update(make(numbered))
    assert {names[q]: v for q, v in evaluator.result()["AP"].per_query.items()} == expected["AP"]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({1: {7: 0.5}, "1": {7: 0.5}}, "two query ids of the run have the same text"),
        ({1: {7: 0.5, "7": 0.4}}, "run, query '1': two item ids have the same text"),
        ({"1": [7, "7"]}, "item '7' is retrieved twice, at ranks 1 and 2"),
        ({1: 7}, "run, query '1': results are a list of items; got 7"),
        ({1: np.array(7)}, "run, query '1': results are a list of items; got 7"),
        (
            np.array([[7, 8]]),
            "the items of arrays are column numbers from 0; the qrels judge item 'd9'",
        ),
    ],
)
def test_numbers_that_no_file_of_text_can_mean(run: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 7 1\n1 0 d9 1\n")
    with pytest.raises(germane.GermaneError, match=message):
        germane.evaluate(tmp_path / "qrels", run, "RR")


def test_ids_that_are_no_text_beside_a_file_of_text(tmp_path: Path) -> None:
    """Each is its text, as it is in qrels beside a run of text; the run's items are asked for by query."""
    one, huge = uuid.UUID(int=7), 10**5000
    zeros = "0" * 5000
    (tmp_path / "qrels").write_text(f"q 0 {one} 1\nq 0 7.5 1\n3 0 1{zeros} 1\n")
    run = {"q": {b"a": 3.0, one: 2.0, 7.5: 1.0}, 3: {8: 2.0, huge: 1.0}}
    found = germane.evaluate(tmp_path / "qrels", run, "AP")
    assert found["AP"].per_query == {"q": 1 / 4, "3": 1 / 2}
    (tmp_path / "run").write_text(f"q Q0 {one} 1 1 t\n3 Q0 1{zeros} 1 1 t\n")
    judged: Any = {"q": {one: 1}, 3: {huge: 1}}
    assert germane.evaluate(judged, tmp_path / "run", "RR")["RR"].mean == 1
    told = germane.explain(tmp_path / "qrels", {3: {8: 2.0, 10: 1.0}}, "AP", query=3)
    assert [row.item for row in told.rows] == ["8", "10"]
    page = germane.report(tmp_path / "qrels", {"run": {3: {8: 2.0}}}, "AP").html
    assert "\xa08\xa0" in page


@pytest.mark.parametrize("ties", ["best", "worst", "expected"])
@pytest.mark.parametrize("source", ["TREC file", "TREC run read"])
def test_orders_of_ties_from_files(source: str, ties: str, tmp_path: Path) -> None:
    measures = "AP nDCG P@2 R@3 RR Judged@3"
    for form in ("plain", "shuffled"):
        run = INPUTS[f"{source}, {form}"].make(QRELS, RUN, tmp_path).run
        found = germane.evaluate(QRELS, run, measures, ties=ties, missing="skip")  # type: ignore[arg-type]
        expected = germane.evaluate(QRELS, RUN, measures, ties=ties, missing="skip")  # type: ignore[arg-type]
        assert [one.per_query for one in found.values()] == [
            one.per_query for one in expected.values()
        ]
        assert found.counts == expected.counts


@pytest.mark.parametrize("source", ["TREC file", "TREC run read"])
def test_given_order_of_ties_from_files(source: str, tmp_path: Path) -> None:
    """In the order of the file, also where its queries are scattered."""
    mixed = shuffled(rows(RUN))
    run: dict[str, Scores] = {}
    for query, item, score in mixed:
        run.setdefault(query, {})[item] = score
    given = INPUTS[f"{source}, shuffled"].make(QRELS, RUN, tmp_path).run
    found = per_query(QRELS, given, ties="given")
    assert found == per_query(QRELS, run, ties="given") != EXPECTED


@pytest.mark.parametrize("name", FILES)
def test_standard_input(name: str) -> None:
    with standard_input(FILES[name]):
        assert per_query(QRELS, "-") == EXPECTED


@pytest.mark.parametrize("name", ["plain", "shuffled, compressed"])
def test_a_pipe(name: str, tmp_path: Path) -> None:
    with fifo(tmp_path, FILES[name]) as pipe:
        assert per_query(QRELS, pipe) == EXPECTED


def test_command_line_reads_standard_input(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(qrels_text(QRELS), "utf-8")
    command = ["evaluate", str(tmp_path / "qrels"), "-", "-m", MEASURES, "--per-query"]
    done = subprocess.run(
        [sys.executable, "-m", "germane", *command, "--format", "json"],
        input=FILES["shuffled"],
        capture_output=True,
        check=True,
    )
    queries = json.loads(done.stdout)["runs"][0]["queries"]
    assert queries == {
        query: {name: values[query] for name, values in EXPECTED.items()} for query in QRELS
    }


# ----------------------------------------------------------------------------------------- qrels

QRELS_TEXT = qrels_text(QRELS)
QRELS_FILES = {
    "plain": QRELS_TEXT.encode(),
    "whole grades": QRELS_TEXT.replace(".0", "").encode(),
    "gz": gzip.compress(QRELS_TEXT.encode()),
    "bz2": bz2.compress(QRELS_TEXT.encode()),
    "xz": lzma.compress(QRELS_TEXT.encode()),
    "zst": zstd(QRELS_TEXT.encode()),
    "tabs": qrels_text(QRELS, "\t").encode(),
    "several blanks": add_blanks(QRELS_TEXT).encode(),
    "CRLF": qrels_text(QRELS, end="\r\n").encode(),
    "comments and blank lines": comment(QRELS_TEXT).encode(),
    "BOM": b"\xef\xbb\xbf" + QRELS_TEXT.encode(),
    "BOM and comments": b"\xef\xbb\xbf" + comment(QRELS_TEXT).encode(),
    "no final newline": QRELS_TEXT.encode()[:-1],
}


@pytest.mark.parametrize("name", QRELS_FILES)
def test_qrels_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(QRELS_FILES[name])
    assert per_query(path, RUN) == EXPECTED
    assert per_query(str(path), RUN) == EXPECTED
    assert per_query(germane.read_qrels(path), RUN) == EXPECTED
    with standard_input(QRELS_FILES[name]):
        assert per_query("-", RUN) == EXPECTED
    with fifo(tmp_path, QRELS_FILES[name]) as pipe:
        assert per_query(pipe, RUN) == EXPECTED


def test_qrels_file_with_scattered_queries(tmp_path: Path) -> None:
    lines = QRELS_TEXT.splitlines(keepends=True)
    (tmp_path / "qrels").write_text("".join(random.Random(5).sample(lines, len(lines))), "utf-8")
    assert per_query(tmp_path / "qrels", RUN) == EXPECTED
    run = store(FILES["shuffled"], tmp_path)
    assert per_query(tmp_path / "qrels", run) == EXPECTED


@pytest.mark.parametrize("make", [list, tuple, set, frozenset, np.array, UserList])
def test_qrels_as_relevant_items(make: Callable[[list[str]], Any]) -> None:
    relevant = {"1": ["a", "é", "missed"], "10": [LONG], "none-relevant": []}
    graded = {query: dict.fromkeys(items, 1) or {"nowhere": 0} for query, items in relevant.items()}
    given = {query: make(items) for query, items in relevant.items()}
    found, expected = (germane.evaluate(qrels, RUN, MEASURES) for qrels in (given, graded))
    assert [found[m].per_query for m in found] == [expected[m].per_query for m in expected]


# ------------------------------------------------------------------------------------------- ids


@pytest.mark.parametrize(
    "length", [1, 6, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 200, 1023, 1024, 1025, 1033, 5000]
)
def test_ids_that_share_their_beginning(length: int, tmp_path: Path) -> None:
    """Ids are told apart in their last byte, or by one byte more, whatever their length."""
    stem = "x" * (length - 1)
    items = [stem + "a", stem + "b", stem + "é", stem or "c", stem + "aa", stem + "b" + stem]
    judged = {item: float(grade) for grade, item in enumerate(items)}
    scores = dict.fromkeys([*items, stem + "bb", stem + "0", stem + "a" + stem], 1.0)
    qrels, run = {"q": judged, stem + "q": judged}, {stem + "q": scores, "q": scores}
    expected = germane.evaluate(qrels, run, "nDCG AP DCG@3")
    ranked = oracle.trec_order(scores)
    assert expected["DCG@3"].values[0] == pytest.approx(
        oracle.value("DCG", {}, 3, ranked, judged), rel=1e-12
    )
    path = store(run_text(rows(run)).encode(), tmp_path)
    (tmp_path / "qrels").write_text(qrels_text(qrels), "utf-8")
    for judgments in (qrels, tmp_path / "qrels"):
        for given_run in (path, germane.read_run(path), run):
            found = germane.evaluate(judgments, given_run, "nDCG AP DCG@3")
            for measure in expected:
                assert found[measure].per_query == expected[measure].per_query


def test_ids_that_are_not_utf_8_are_kept_byte_by_byte(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"q\xff 0 \xfe\xff 2\nq\xff 0 \xfe 1\nq\xff 0 z 0\n")
    path = store(
        b"".join(
            b"q\xff Q0 %b 1 1.0 t\n" % i for i in (b"z", b"\xfe", b"\xfe\xff", b"\xef\xbf\xbd")
        ),
        tmp_path,
    )
    escaped = {"q\udcff": {"\udcfe\udcff": 2, "\udcfe": 1, "z": 0}}
    scores = {"q\udcff": dict.fromkeys(["z", "\udcfe", "\udcfe\udcff", "\ufffd"], 1.0)}
    for qrels in (tmp_path / "qrels", escaped):
        for run in (path, germane.read_run(path), scores):
            result = germane.evaluate(qrels, run, "DCG RR(rel=2) RR")
            assert result["RR(rel=2)"].per_query == {"q\udcff": 1}  # FE FF, FE, EF BF BD, z
            assert result["DCG"].mean == pytest.approx(2 + 1 / np.log2(3), rel=1e-15)


@pytest.mark.parametrize("kind", [int, np.int64, lambda n: (n,), lambda n: str(n).encode()])
def test_ids_of_other_types(kind: Callable[[int], Any]) -> None:
    """Ids that are not text stand for their text in the order of ties: 9 before 10."""
    qrels = {kind(1): {kind(9): 1, kind(10): 0, kind(11): 2}}
    run = {kind(1): {kind(9): 1.0, kind(10): 1.0, kind(11): 1.0}}
    result = germane.evaluate(qrels, run, "RR RR(rel=2)")
    assert (result["RR"].mean, result["RR(rel=2)"].mean) == (1, 1 / 2)
    assert list(result["RR"].per_query) == [kind(1)]
    listed = germane.evaluate(qrels, {kind(1): [kind(10), kind(11)]}, "RR RR(rel=2)")
    assert (listed["RR"].mean, listed["RR(rel=2)"].mean) == (1 / 2, 1 / 2)


def test_numbers_as_ids_against_a_file(tmp_path: Path) -> None:
    path = store(b"1 Q0 9 1 2.0 t\n1 Q0 10 2 1.0 t\n", tmp_path)
    assert germane.evaluate({1: {10: 1}}, path, "RR")["RR"].per_query == {1: 1 / 2}


def test_two_query_ids_with_the_same_text_are_an_error_against_a_file(tmp_path: Path) -> None:
    path = store(b"1 Q0 9 1 2.0 t\n", tmp_path)
    with pytest.raises(FormatError, match="two query ids of the qrels have the same text"):
        germane.evaluate({1: {10: 1}, "1": {9: 1}}, path, "RR")


def test_a_byte_order_mark_is_one_only_at_the_start_of_the_file(tmp_path: Path) -> None:
    """Elsewhere it is part of an id, also where a block begins."""
    run = {"q": {"a": 1.0}, "\ufeffq": {"a": 1.0}, "\ufeffr": {"a": 1.0}}
    path = store(run_text(rows(run)).encode(), tmp_path)
    qrels = {"q": {"a": 1}, "\ufeffq": {"a": 1}}
    for size in (8, 16, 20, 21, 22, 2**20):
        with blocks_of(size):
            found = germane.evaluate(qrels, path, "RR")
        assert found["RR"].per_query == {"q": 1, "\ufeffq": 1}
        assert found.counts.unjudged_queries == 1


@pytest.mark.parametrize("blank", ["\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028"])
def test_only_blanks_and_tabs_separate(blank: str, tmp_path: Path) -> None:
    """Other white space is part of an id, in lines that are plain and in lines that are not."""
    item = f"a{blank}b"
    for text in (run_text([("q", item, 1.0)]), "# not plain\n" + run_text([("q", item, 1.0)])):
        path = store(text.encode(), tmp_path)
        assert germane.evaluate({"q": {item: 1}}, path, "RR")["RR"].mean == 1, text


# --------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "written",
    ["1", "+1", "-1", "1.", ".5", "-.5", "1e3", "1E3", "1e+3", "1.5e-3", "007", "0.1", "-0",
     "9007199254740993", "123456789012345678901234567890", "1e-400", "4.9e-324",
     "1.7976931348623157e308", "0.1000000000000000055511151231257827", "2.2250738585072011e-308"],
)  # fmt: skip
def test_scores_are_read_as_python_reads_them(written: str, tmp_path: Path) -> None:
    """In plain blocks and in others: neighbours above and below keep their order."""
    value = float(written)
    around = {"up": nextafter(value, inf), "it": value, "down": nextafter(value, -inf)}
    around = {item: score for item, score in around.items() if isfinite(score)}
    lines = [
        f"q Q0 {item} 1 {written if item == 'it' else repr(score)} t\n"
        for item, score in around.items()
    ]
    for head in ("", "# not plain\n"):
        path = store((head + "".join(lines)).encode(), tmp_path)
        for run in (path, germane.read_run(path)):
            result = germane.evaluate({"q": {"it": 1}}, run, "RR", ties="worst")
            assert result["RR"].mean == 1 / (2 if "up" in around else 1)


@pytest.mark.parametrize(
    "written", ["nan", "inf", "-inf", "1e400", "0x10", "1_000", "1,5", "", "-", "1e", "½", "١"]
)
def test_what_is_not_a_finite_number_is_an_error(written: str, tmp_path: Path) -> None:
    for head in ("", "# not plain\n"):
        text = f"{head}q Q0 a 1 2.0 t\nq Q0 b 2 {written} t\n"
        with pytest.raises(InputError, match=f"toy.run:{2 + bool(head)}: "):
            germane.evaluate({"q": {"a": 1}}, store(text.encode(), tmp_path), "RR")


def test_large_integers_as_scores() -> None:
    """They are compared as doubles, as the same digits in a file are."""
    tied = {"a": 2**53, "b": 2**53 + 1}
    assert germane.evaluate({"q": {"a": 1}}, {"q": tied}, "RR", ties="best")["RR"].mean == 1
    assert germane.evaluate({"q": {"a": 1}}, {"q": tied}, "RR", ties="worst")["RR"].mean == 1 / 2
    apart = {"a": 10**300, "b": 10**300 - 10**290}
    assert germane.evaluate({"q": {"a": 1}}, {"q": apart}, "RR", ties="worst")["RR"].mean == 1
    with pytest.raises(ScoreError, match="query 'q', item 'a': a score must be a finite number"):
        germane.evaluate({"q": {"a": 1}}, {"q": {"a": 10**400}}, "RR")


def test_numpy_scalars() -> None:
    for kind in (np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64):
        run = {"q": {"a": kind(3), "b": kind(5), "c": kind(1)}}
        qrels = {"q": {"a": kind(1), "b": kind(0), "c": kind(2)}}
        result = germane.evaluate(qrels, run, "DCG RR")
        assert result["RR"].mean == 1 / 2
        assert result["DCG"].mean == pytest.approx(1 / np.log2(3) + 2 / 2, rel=1e-15)
    near = {"a": np.float32(0.1), "b": 0.1}  # the float32 is a little more
    assert germane.evaluate({"q": {"a": 1}}, {"q": near}, "RR", ties="worst")["RR"].mean == 1


@pytest.mark.parametrize("score", ["1.5", None, float("nan"), float("inf"), 1j, [1.0], b"1"])
def test_what_is_not_a_number_in_a_dict(score: Any) -> None:
    for n in (1, 50):  # few and many judged items are read differently
        got = {**{f"d{i}": float(i) for i in range(n)}, "odd": score}
        qrels = {"q": {f"d{i}": 1 for i in range(n)}}
        with pytest.raises(
            ScoreError, match="run, query 'q', item 'odd': a score must be a finite"
        ):
            germane.evaluate(qrels, {"q": got}, "RR")


# ------------------------------------------------------------------------------ the caller's data


def test_nothing_given_is_changed() -> None:
    qrels, run = copy.deepcopy(QRELS), copy.deepcopy(RUN)
    lists = {query: list(got) for query, got in run.items()}
    before = copy.deepcopy((qrels, run, lists))
    missing = defaultdict(dict, run)
    for given_run in (run, lists, missing):
        for ties in ("given", "best"):
            germane.evaluate(qrels, given_run, "AP nDCG", ties=ties, unjudged="remove")  # type: ignore[arg-type]
    assert (qrels, run, lists) == before
    assert missing == run


def test_unknown_queries_are_counted_and_change_nothing(tmp_path: Path) -> None:
    more = {**RUN, "new": {LONG: 1.0}, "newer": {"a": 5.0, "b": 5.0}}
    path = store(run_text(shuffled(rows(more))).encode(), tmp_path)
    lists = {query: oracle.trec_order(got) for query, got in more.items()}
    for run in (more, lists, path, germane.read_run(path)):
        result = germane.evaluate(QRELS, run, MEASURES)
        assert {name: one.per_query for name, one in result.items()} == EXPECTED
        assert result.counts.unjudged_queries == 3


def test_repeats_in_queries_that_nobody_judged_do_not_matter(tmp_path: Path) -> None:
    text = run_text(rows(RUN)) + "nobody Q0 a 1 1.0 t\nnobody Q0 a 1 2.0 t\n"
    path = store(text.encode(), tmp_path)
    assert per_query(QRELS, path) == per_query(QRELS, germane.read_run(path)) == EXPECTED


@pytest.mark.parametrize("text", ["", "\n", "# only this\n\n", "\ufeff", " \t\r\n"])
def test_nothing_in_a_file(text: str, tmp_path: Path) -> None:
    path = store(text.encode(), tmp_path)
    with pytest.raises(EmptyError, match=r"toy.run: the file is empty"):
        germane.evaluate(QRELS, path, "AP")
    with pytest.raises(EmptyError, match=r"toy.run: the file is empty"):
        germane.read_run(path)
    with pytest.raises(EmptyError, match=r"toy.run: the file is empty"):
        germane.read_qrels(path)


# ------------------------------------------------------------------- files against a plain model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    with mock.patch(SIZES["block"], size):
        yield


LAYOUTS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    add_blanks,
    comment,
    lambda text: text.replace(" ", "\t"),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text[:-1],
)


@given(
    collection=collections(queries=4),
    size=st.integers(8, 300),
    layout=st.sampled_from(LAYOUTS),
    ties=st.sampled_from(["trec", "given", "best"]),
    rng=st.randoms(use_true_random=False),
)
def test_files_equal_dicts(
    folder: Path,
    collection: tuple[dict[str, Judgments], dict[str, Scores]],
    size: int,
    layout: Callable[[str], str],
    ties: Any,
    rng: random.Random,
) -> None:
    """However small the blocks, in any order of lines, and whatever the layout."""
    qrels, run = collection
    qrels = {query: judged for query, judged in qrels.items() if judged}
    run = {query: got for query, got in run.items() if got}  # a file has no empty queries
    if not set(qrels) & set(run):
        return
    given_rows = rows(run)
    if rng.random() < 0.5:
        rng.shuffle(given_rows)
        run = regrouped(given_rows)
    run_path, qrels_path = folder / "a.run", folder / "a.qrels"
    run_path.write_text(layout(run_text(given_rows)), "utf-8")
    qrels_path.write_text(layout(qrels_text(qrels)), "utf-8")
    expected = germane.evaluate(qrels, run, MEASURES, ties=ties)
    with blocks_of(size):
        for judged, run in ((qrels_path, run_path), (qrels, germane.read_run(run_path))):
            found = germane.evaluate(judged, run, MEASURES, ties=ties)
            assert {**asdict(found.counts), "comments": 0} == asdict(expected.counts)
            for measure in expected:
                assert found[measure].per_query == expected[measure].per_query, measure


def regrouped(given: Rows) -> dict[str, Scores]:
    run: dict[str, Scores] = {}
    for query, item, score in given:
        run.setdefault(query, {})[item] = score
    return run


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["q0", "q1", "q2", "unknown"]),
        st.sampled_from(ITEMS[:7]),
        st.sampled_from(SCORES[:5]),
    ),
    min_size=1,
    max_size=25,
)


def without_repeats(given: list[tuple[str, float]], duplicates: str) -> list[tuple[str, float]]:
    """A query's (item, score) rows as the policy leaves them, in the order of the file."""
    if duplicates == "keep":
        return given
    out = []
    for row, (item, score) in enumerate(given):
        copies = [at for at, (other, _) in enumerate(given) if other == item]
        best = max(given[at][1] for at in copies)
        kept = {
            "first": copies[0],
            "last": copies[-1],
            "max": next(at for at in copies if given[at][1] == best),
        }[duplicates]
        if row == kept:
            out.append((item, score))
    return out


def arranged(given: list[tuple[str, float]], ties: str) -> list[str]:
    """The items as they are ranked."""
    if ties == "trec":
        given = sorted(given, key=lambda row: row[0].encode(), reverse=True)
    return [item for item, _ in sorted(given, key=lambda row: -row[1])]


@given(
    given_rows=ROWS,
    qrels=st.fixed_dictionaries(
        {
            query: st.dictionaries(st.sampled_from(ITEMS[:7]), st.sampled_from(GRADES), min_size=1)
            for query in ("q0", "q1")
        }
    ),
    grouped=st.booleans(),
    duplicates=st.sampled_from(["first", "last", "max", "keep"]),
    ties=st.sampled_from(["trec", "given"]),
    size=st.sampled_from([8, 64, 200, 2**20]),
)
def test_repeated_rows(
    folder: Path,
    given_rows: Rows,
    qrels: dict[str, Judgments],
    grouped: bool,
    duplicates: str,
    ties: str,
    size: int,
) -> None:
    """Repeats are taken out as a plain model does."""
    given_rows = [*given_rows, ("q0", "a", 1.0)]
    if grouped:
        given_rows.sort(key=lambda row: row[0])
    path = folder / "repeats.run"
    path.write_text(run_text(given_rows), "utf-8")
    policy: dict[str, Any] = {"duplicates": duplicates, "ties": ties}
    lists = {
        query: counted_once(
            arranged(
                without_repeats([r[1:] for r in given_rows if r[0] == query], duplicates), ties
            )
        )
        for query in qrels
    }
    with blocks_of(size):
        for run in (path, germane.read_run(path)):
            result = germane.evaluate(qrels, run, "DCG NumRet P@2", **policy)
            for query, judged in qrels.items():
                for measure, one in result.items():
                    name, k = ("P", 2) if measure == "P@2" else (measure, None)
                    expected = oracle.value(name, {}, k, lists[query], judged)
                    assert one.per_query[query] == pytest.approx(expected, rel=1e-12), measure


def test_a_query_longer_than_many_blocks(tmp_path: Path) -> None:
    run = {
        "short": {"a": 1.0},
        "long": {f"d{i}": float(i % 50) for i in range(3000)},
        "last": {"a": 2.0, "b": 2.0},
    }
    qrels = {
        "long": {f"d{i}": i % 4 for i in range(0, 4000, 7)},
        "last": {"a": 1},
        "short": {"a": 1},
    }
    path = store(run_text(rows(run)).encode(), tmp_path)
    expected = germane.evaluate(qrels, run, MEASURES)
    for size in (64, 1000, 4096, 2**20):
        with blocks_of(size):
            found = germane.evaluate(qrels, path, MEASURES)
        for measure in expected:
            assert found[measure].per_query == expected[measure].per_query


@given(st.binary(max_size=60), st.integers(4, 64))
def test_any_bytes_are_read_or_refused(folder: Path, data: bytes, size: int) -> None:
    """Whatever a file holds, it is evaluated or refused with a GermaneError that names the file."""
    path = folder / "any.run"
    for head in (b"", b"q Q0 a 1 1.0 t\n"):
        path.write_bytes(head + data)
        with blocks_of(size):
            try:
                germane.evaluate({"q": {"a": 1}}, path, "AP")
            except germane.errors.CoverageError:
                pass
            except germane.GermaneError as error:
                assert "any.run" in str(error)  # noqa: PT017  (it need not be raised)


FIELD = st.text(
    st.characters(exclude_characters=" \t\r\n\0#", exclude_categories=["Cs"]),
    min_size=1,
    max_size=20,
)


@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=8, unique=True), st.integers(4, 64))
def test_any_text_can_be_an_id(folder: Path, ids: list[tuple[str, str]], size: int) -> None:
    """Ids come back from a file as they were, judged by name and found again."""
    run = regrouped([(query, item, float(n % 3)) for n, (query, item) in enumerate(ids)])
    qrels = {query: dict.fromkeys(list(got)[::2], 1.0) for query, got in run.items()}
    expected = germane.evaluate(qrels, run, "AP NumRet")
    (folder / "ids.run").write_text(run_text(rows(run)), "utf-8", newline="")
    (folder / "ids.qrels").write_text(qrels_text(qrels), "utf-8", newline="")
    with blocks_of(size):
        found = germane.evaluate(folder / "ids.qrels", folder / "ids.run", "AP NumRet")
    assert {m: found[m].per_query for m in found} == {m: expected[m].per_query for m in expected}


def test_reading_a_file_does_not_import_pandas(tmp_path: Path) -> None:
    """pyarrow would, where it is installed; that takes longer than evaluating a small file."""
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas was imported')")
    qrels, run = tmp_path / "a.qrels", tmp_path / "a.run"
    qrels.write_text("q 0 a 1\nr 0 a 1\n")
    code = "import germane, sys, warnings; warnings.simplefilter('ignore'); print(germane.evaluate(*sys.argv[1:], 'RR', duplicates='last'))"
    rows_ = ["q Q0 a 1 2.0 t", "q Q0 b 2 2.0 t", "r Q0 b 1 1.0 t", "r Q0 b 1 1.0 t", "q Q0 c 3 1 t"]
    for text in ("\n".join(rows_[:3]), "\n".join(rows_), "# not plain\n" + rows_[0]):
        run.write_text(text)
        done = subprocess.run(
            [sys.executable, "-c", code, str(qrels), str(run)],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), text


# ------------------------------------------------------------------- what stands for no id, no grade


@pytest.mark.parametrize("missing", [None, nan, np.float64("nan")], ids=repr)
def test_an_id_that_is_missing_is_refused(missing: Any) -> None:
    with pytest.raises(FormatError, match=r"^qrels, query 'q': an id is missing; got "):
        germane.evaluate({"q": {"a": 1, missing: 1}}, {"q": {"a": 1.0}})
    with pytest.raises(FormatError, match=r"^qrels: an id is missing; got "):
        germane.evaluate({missing: {"a": 1}}, {missing: {"a": 1.0}})
    with pytest.raises(FormatError, match=r"^run: an id is missing; got "):
        germane.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}, missing: {"a": 1.0}})


@pytest.mark.parametrize("results", [{"a": 1.0, None: 0.5}, ["a", None]], ids=repr)
def test_a_result_without_an_id_is_refused(results: Any) -> None:
    with pytest.raises(FormatError, match=r"^run, query 'q': an id is missing; got None"):
        germane.evaluate({"q": {"a": 1}}, {"q": results})


def test_a_query_without_a_judgment_is_not_judged() -> None:
    """As in a file, which has no line for it; where nothing is relevant, that is a judgment."""
    run = {"q1": ["a"], "q2": ["b"]}
    assert germane.evaluate({"q1": {"a": 1}, "q2": {}}, run, "RR")["RR"].mean == 1.0
    assert germane.evaluate({"q1": {"a": 1}, "q2": []}, run, "RR")["RR"].mean == 1 / 2
    assert germane.evaluate({"q1": []}, run, "RR")["RR"].mean == 0.0
    with pytest.raises(EmptyError):
        germane.evaluate({"q1": {}}, run, "RR")


@pytest.mark.parametrize("grade", [2**53 + 2, -(2**63), 1e300], ids=repr)
def test_grades_beyond_whole_numbers_are_refused(grade: float, tmp_path: Path) -> None:
    """2^53 and 2^53 + 1 are one double: grades that cannot be told apart are not taken."""
    run = {"q": {"a": 1.0}}
    with pytest.raises(GradeError, match=r"query .q., item .a.: .* in the range ±2"):
        germane.evaluate({"q": {"a": grade}}, run)
    path = tmp_path / "qrels"
    path.write_text(f"q 0 b 1\nq 0 a {grade}\n")
    with pytest.raises(GradeError, match=r"qrels:2: .* beyond the range ±2"):
        germane.evaluate(path, run)
    columns = {"query": ["q"] * 2, "item": ["b", "a"], "relevance": [1.0, float(grade)]}
    with pytest.raises(GradeError, match=r"row 1: .* in the range ±2"):
        germane.evaluate(pa.table(columns), run)
    assert germane.evaluate({"q": {"a": 2**53}}, run, "DCG")["DCG"].mean == 2.0**53


def test_numbers_of_numpy_are_ids_like_those_of_python() -> None:
    """Nothing is found, which is no matter of types; text is."""
    qrels = {1: {5: 1}}
    for items in ([np.int64(7)], np.array([7])):
        assert germane.evaluate(qrels, {1: items}, "AP")["AP"].mean == 0
    with pytest.raises(germane.errors.CoverageError, match="item ids are int, the qrels' are str"):
        germane.evaluate({1: {"5": 1}}, {1: [np.int64(7)]}, "AP")


@pytest.mark.parametrize(
    "run",
    [
        {True: {7: 0.9}},
        {1.0: [7]},
        {Decimal("1.0"): [7]},
        {1: [7.0]},
        {1: [(7, 0.5), (8, 0.4)]},
        {1: np.array([0.9, 0.8])},
        {1: [True]},
    ],
)
def test_what_is_equal_to_an_integer_and_none(run: Any, tmp_path: Path) -> None:
    """Python takes True and 1.0 for 1; beside a file of text they are no digits of it."""
    (tmp_path / "qrels").write_text("1 0 7 1\n1 0 1 1\n")
    with pytest.raises(
        germane.GermaneError,
        match=r"differ|contains ids|truth value|the run's item ids are|the run's ids are|no query of|are pairs of",
    ):
        germane.evaluate(tmp_path / "qrels", run, "RR")
    with pytest.raises(germane.GermaneError):
        germane.explain(tmp_path / "qrels", run, "RR", query=1)


def test_a_query_that_two_could_answer(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 7 1\n1.0 0 8 1\n")
    found = germane.evaluate(tmp_path / "qrels", {"1.0": [7, 8]}, "RR", missing="zero")
    assert found["RR"].per_query == {"1": 0.0, "1.0": 1 / 2}
    with pytest.raises(germane.errors.CoverageError):
        germane.evaluate(tmp_path / "qrels", {1.0: [7, 8]}, "RR")
