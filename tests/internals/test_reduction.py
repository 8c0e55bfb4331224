"""The plain reduction against counting in plain Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from germane.core import ragged
from germane.core.ties import ROW_KEYS
from germane.errors import FormatError, InputError
from germane.kernel import library
from germane.kernel.ids import Categories, Ids, Integers, join_ids, read_bytes, read_python_ids
from germane.kernel.keys import Keys
from germane.kernel.reduction import Batch, Index, Judgments, RepeatedRowError, reduce
from germane.readers.files import trec

KINDS: dict[str, Callable[[list[int]], Ids]] = {
    "integers": lambda ids: Integers(np.array(ids, np.int64)),
    "integers far apart": lambda ids: Integers(np.array(ids, np.int64) * 10**15 - 6 * 10**15),
    "unsigned": lambda ids: Integers(np.array(ids, np.uint64) + np.uint64(1 << 63)),
    "text": lambda ids: read_bytes([b"%d" % one for one in ids]),
    "categories": lambda ids: Categories(
        np.array(ids, np.int16), read_python_ids([str(n) for n in range(13)]).as_text()
    ),
}
SCORES = st.sampled_from([-2.5, -0.0, 0.0, 1.0, 3.0]) | st.floats(
    allow_nan=False, allow_infinity=False
)
ITEMS = st.lists(st.integers(0, 12), max_size=9, unique=True)
QUERIES = st.lists(st.tuples(ITEMS, ITEMS, st.lists(SCORES, min_size=9, max_size=9)), min_size=1)


def as_given(ids: Ids) -> list[bytes]:
    return ids.as_text().to_bytes()


def test_the_kernel_is_the_one_asked_for(kernel: str) -> None:
    assert library.name_kernel() == kernel


@pytest.mark.parametrize("kind", KINDS)
@given(queries=QUERIES, by_id=st.booleans(), scored=st.booleans())
def test_ranks_count_what_stands_higher(
    kind: str, queries: list[tuple[list[int], list[int], list[float]]], by_id: bool, scored: bool
) -> None:
    lists, judged, scores = zip(*queries, strict=True)
    items = KINDS[kind]([one for got in lists for one in got])
    offsets = ragged.make_offsets([len(got) for got in lists])
    score = [one for got, some in zip(lists, scores, strict=True) for one in some[: len(got)]]
    order = np.arange(len(lists))[::-1]  # the judgments stand in another order than the run's
    qrels = Judgments(
        list(range(len(lists))),
        ragged.make_offsets([len(judged[q]) for q in order.tolist()]),
        KINDS[kind]([one for q in order.tolist() for one in judged[q]]),
    )
    batch = Batch(order, offsets, items, np.array(score, float) if scored else None)
    expected = []
    text, wanted = as_given(items), as_given(qrels.items)
    for group, q in enumerate(order.tolist()):
        rows = list(range(offsets[group], offsets[group + 1]))
        worth = {row: score[row] if scored else -row for row in rows}
        ranked = sorted(rows, key=lambda row: text[row], reverse=True) if by_id else rows
        ranked = sorted(ranked, key=worth.__getitem__, reverse=True)
        for rank, row in enumerate(ranked, 1):
            for j in range(qrels.offsets[q], qrels.offsets[q + 1]):
                if wanted[j] == text[row]:
                    above = sum(worth[other] > worth[row] for other in rows)
                    below = sum(worth[other] >= worth[row] for other in rows)
                    expected.append((row, j, group, rank, above + 1, below))
    got = reduce(qrels, batch, ties="id" if by_id else "given")
    assert list(zip(*(column.tolist() for column in got), strict=True)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_repeated_item_is_found_in_its_query_alone(kind: str) -> None:
    items = KINDS[kind]([1, 2, 3, 1, 3, 1])
    qrels = Judgments([0, 1], np.array([0, 0, 0]), items.part(0, 0))
    reduce(qrels, Batch(np.array([0, 1]), np.array([0, 3, 5]), items.part(0, 5), None))
    with pytest.raises(RepeatedRowError) as found:
        reduce(qrels, Batch(np.array([0, 1]), np.array([0, 3, 6]), items, None))
    assert (found.value.row, found.value.other) == (5, 3)


@pytest.mark.parametrize("kind", KINDS)
@given(parts=st.lists(st.lists(st.integers(0, 12)), min_size=1, max_size=5))
def test_columns_are_joined(kind: str, parts: list[list[int]]) -> None:
    joined = join_ids([KINDS[kind](part) for part in parts])
    assert as_given(joined) == [one for part in parts for one in as_given(KINDS[kind](part))]


LETTERS = [[b"a", b"b"], [b"b", b"c"], [b"c", b"", b"a"]]
LISTED = st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.lists(st.integers(0, 1), min_size=2)))


@given(first=st.lists(st.integers(0, 1), min_size=2), others=LISTED)
def test_categories_of_several_lists_are_joined_as_categories(
    first: list[int], others: list[tuple[int, list[int]]]
) -> None:
    lists = [read_bytes(one) for one in LETTERS]
    parts = [Categories(np.array(codes), lists[n]) for n, codes in [(0, first), *others]]
    joined = join_ids(parts)
    expected = [LETTERS[n][code] for n, codes in [(0, first), *others] for code in codes]
    assert as_given(joined) == expected
    if sum(len(lists[n]) for n in {0, *(n for n, _ in others)}) <= len(expected):
        assert isinstance(joined, Categories)
        entries = joined.entries.to_bytes()
        assert len(set(entries)) == len(entries)


@pytest.mark.parametrize("kind", KINDS)
@given(wanted=st.lists(st.integers(0, 12)))
def test_ids_are_looked_up(kind: str, wanted: list[int]) -> None:
    among = [7, 3, 12, 0]
    index = Index(KINDS[kind](among))
    assert index.distinct == 4
    found = index.find(KINDS[kind](wanted))
    assert found.tolist() == [among.index(one) if one in among else -1 for one in wanted]


@pytest.mark.parametrize("turned", [False, True])
def test_integers_with_the_same_bits_are_no_match(turned: bool) -> None:
    """-1 and 2**64 - 1, in columns whose integers stand near each other."""
    signed = Integers(np.array([-1, -2, -3, -4], np.int64))
    unsigned = Integers(np.array([2**64 - 1, 2**64 - 2, 2**64 - 3, 2**64 - 4], np.uint64))
    judged, items = (signed, unsigned) if turned else (unsigned, signed)
    ends = np.array([0, 4])
    hits = reduce(Judgments([0], ends, judged), Batch(np.array([0]), ends, items, None))
    assert not len(hits.row)


FIELDS = st.sampled_from(
    [b"q", b"Q0", b"1", b"2.5", b"-0", b"1e3", b"#q", b"nan", b"\xc3\xa9", b'"']
)
BLANKS = st.sampled_from([b" ", b"  ", b"\t", b""])
ENDS = st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n", b"\r", b" ", b""])
LINES = st.lists(
    st.tuples(st.lists(st.tuples(BLANKS, FIELDS), min_size=4, max_size=7), ENDS), max_size=4
)


@given(LINES, st.booleans())
@example([([(b" ", b"1")] * 4, b" ")], False)
def test_lines_are_split_alike(lines: Any, detailed: bool) -> None:
    """All at once by Arrow or by the kernel, and one by one."""
    data = b"".join(
        b"q" + b"".join(b"".join(field) for field in fields) + end for fields, end in lines
    )

    def split(way: Any, *more: Any) -> Any:
        try:
            found = way(data, trec.RUN, *more)
        except InputError as error:
            return str(error)
        if found is None:
            return None
        rank = None if found.rank is None else str(found.rank.tolist())
        items = found.items.to_bytes()
        return found.queries, found.offsets.tolist(), items, found.number.tolist(), rank

    def read_odd(line: bytes, at: int) -> Any:
        if len(line.split()) < 6:  # stricter than parse_line, for which a tag may be empty
            raise FormatError("not a plain line")
        return trec.parse_line(line, trec.RUN)

    each = split(trec._split_each, read_odd, detailed)
    if lines and (at_once := split(trec._split_plain, detailed)) is not None:
        assert at_once == each
    if library.is_loaded() and not detailed:
        assert split(trec._split_compiled, read_odd) == each


@pytest.mark.parametrize("n", [6, 40])
def test_an_order_of_ties_is_that_of_every_container(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ROW_KEYS, "last digit", lambda ids, rows: rows % 2 * n + rows)
    names = [f"d{(7 * i) % n}" for i in range(n)]
    offsets, score = np.array([0, n]), np.ones(n)
    found = []
    for ids in (Keys([dict.fromkeys(names, 1.0)]), read_python_ids(names)):
        wanted = Keys([{name: i for i, name in enumerate(names)}])
        items = wanted if isinstance(ids, Keys) else ids
        judged = Judgments(["q"], offsets, items)
        hits = reduce(judged, Batch(np.zeros(1, np.int64), offsets, ids, score), ties="last digit")
        found.append(dict(zip(hits.judgment.tolist(), hits.rank.tolist(), strict=True)))
    even, odd = range(0, n, 2), range(1, n, 2)
    assert found[0] == found[1] == {row: rank for rank, row in enumerate([*even, *odd], 1)}
