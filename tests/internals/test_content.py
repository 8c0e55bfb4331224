"""The hash of rows: both paths, parts and the whole, and a third one in plain Python."""

import pickle
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.evaluation.evaluator import join_evaluators
from germane.kernel import content, library
from germane.kernel.ids import Categories, Ids, Integers, read_bytes, read_python_ids

IDS = st.one_of(st.text(max_size=20), st.binary(max_size=40))


@given(st.lists(st.tuples(IDS, st.floats(allow_nan=False)), min_size=1), st.data())
def test_both_paths_hash_alike(rows: list[Any], data: st.DataObject) -> None:
    """The plain path against the kernel, parts against the whole, and a third one in plain Python."""
    items = read_python_ids([item for item, _ in rows])
    numbers = np.array([number for _, number in rows])
    cut = data.draw(st.integers(0, len(rows)))
    offsets, queries = np.array([0, cut, len(rows)]), ["q", "ü" * 9]
    whole = content.hash_rows(queries, offsets, items, numbers)
    parts = content.hash_rows(
        ["q"], np.array([0, cut]), items.part(0, cut), numbers[:cut]
    ) + content.hash_rows(
        ["ü" * 9], np.array([0, len(rows) - cut]), items.part(cut, len(rows)), numbers[cut:]
    )
    assert whole == parts
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(library, "load_library", lambda: None)
        assert content.hash_rows(queries, offsets, items, numbers) == whole
    owners = [b"q"] * cut + [("ü" * 9).encode()] * (len(rows) - cut)
    texts = items.as_text().to_bytes()
    assert str(whole) == hash_slowly(list(zip(owners, texts, numbers.tolist(), strict=True)))


def hash_slowly(rows: list[tuple[bytes, bytes, float]]) -> str:
    """The hash as docs/signature.md writes it down, with Python's own integers."""
    full = 2**64 - 1
    seeds = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
    factors = 0xD6E8FEB86659FD93, 0xA0761D6478BD642F

    def mix(value: int, lane: int) -> int:
        value = value * factors[lane] & full
        return value ^ value >> 32

    def finish(value: int) -> int:
        value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & full
        value = (value ^ value >> 29) * 0xC4CEB9FE1A85EC53 & full
        return value ^ value >> 32

    def hash_text(text: bytes, role: int, lane: int) -> int:
        value = seeds[lane] ^ (4 * len(text) + role)
        for at in range(0, len(text), 8):
            value = mix(value ^ int.from_bytes(text[at : at + 8], "little"), lane)
        return finish(value)

    sums = [0, 0]
    for query, item, number in rows:
        bits = int.from_bytes(struct.pack("<d", number + 0.0), "little")
        for lane in (0, 1):
            both = hash_text(query, 0, lane) + hash_text(item, 1, lane) & full
            sums[lane] += finish(mix(mix(both, lane) ^ bits, lane))
    return f"{sums[0] & full:016x}{sums[1] & full:016x}"


def test_ids_of_every_layout_are_their_text() -> None:
    values = np.array([5, -12, 5, 10**17], np.int64)
    texts = read_bytes([b"%d" % one for one in values.tolist()])
    layouts: list[Ids] = [
        Integers(values),
        texts,
        Categories(np.array([0, 1, 0, 2]), read_bytes([b"5", b"-12", b"100000000000000000"])),
    ]
    numbers = np.arange(4.0)
    found = {content.hash_rows(["q"], np.array([0, 4]), one, numbers) for one in layouts}
    assert len(found) == 1
    large = Integers(np.array([2**64 - 1], np.uint64)), read_bytes([b"18446744073709551615"])
    assert len({content.hash_rows([1], np.array([0, 1]), one, numbers[:1]) for one in large}) == 1


def test_joined_parts_have_the_content_of_all() -> None:
    """As Spark joins partitions, each with judgments of its own."""
    qrels = {f"q{q}": {"a": 1, "b": 0} for q in range(4)}
    run = {query: {"a": 0.5, "c": float(at)} for at, query in enumerate(qrels)}
    parts = []
    for some in (["q0", "q1"], ["q2", "q3"]):
        frame = pa.table(
            {"query": some * 2, "item": ["a", "a", "b", "b"], "relevance": [1, 1, 0, 0]}
        )
        part = germane.Evaluator(frame, "AP", sign="run")
        part.update(pa.table({
            "query": [query for query in some for _ in run[query]],
            "item": [item for query in some for item in run[query]],
            "score": [score for query in some for score in run[query].values()],
        }))  # fmt: skip
        parts.append(pickle.loads(pickle.dumps(part)))
    whole = germane.evaluate(qrels, run, "AP")
    joined = join_evaluators(parts).result()
    assert (joined.fingerprint, joined.run_fingerprint) == (
        whole.fingerprint,
        whole.run_fingerprint,
    )
