"""The tables on which checks work hold what evaluate reads."""

import random

import pyarrow as pa
import pytest

import germane
from check_examples import (
    QRELS,
    QUERIES,
)
from germane.checks.data import put_side_by_side
from germane.checks.faulty_rows import find_places, number_columns, read_qrels, read_run
from germane.kernel.ids import read_arrow_text, read_bytes, to_bytes
from germane.measures import averaging
from germane.readers import open_qrels, open_run


def test_values_are_those_of_evaluate() -> None:
    """What power is computed from, for a run without ties."""
    rng = random.Random(2)
    run = {q: {item: rng.random() for item in held} for q, held in QRELS.items()}
    data = put_side_by_side(read_qrels(open_qrels(QRELS)), read_run(open_run(run)), ())
    measure = germane.parse("nDCG@10")
    expected = germane.evaluate(QRELS, run, [measure])[measure].per_query
    values = averaging.compute_scores(measure, data.ranking)
    assert dict(zip(QUERIES, values.tolist(), strict=True)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_ids_of_files_are_found_as_ids_of_mappings_are(seed: int) -> None:
    """Columns of Arrow against the same ids in Python."""
    rng = random.Random(seed)
    names = [
        rng.choice(["a", "A", "\u00e9", "\udcff", "7", " ", "", 7, 7.5, b"a"]) for _ in range(9)
    ]
    one, other = [str(name) for name in names[:5]], list(dict.fromkeys(names[3:]))
    parts = [pa.array(list(map(to_bytes, part)), pa.binary()) for part in (one[:2], [], one[2:])]
    ids, codes = number_columns([read_arrow_text(part) for part in parts])
    assert [ids[code] for code in codes.tolist()] == one
    assert list(ids) == list(dict.fromkeys(one)) == ids[:]
    text = read_bytes([to_bytes(name) for name in dict.fromkeys(map(str, other))])
    for among in (other, text):
        assert find_places(ids, among).tolist() == find_places(list(ids), list(among)).tolist()
