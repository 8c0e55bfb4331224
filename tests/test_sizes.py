"""Many queries of one item, one query of many items, long lines: as many as millions, marked ``long``."""

import random
from pathlib import Path

import numpy as np
import pytest

import germane
from germane.errors import InputError

QRELS = {"q": {"d": 1}}
LINE = b"q Q0 d 1 0.5 t\n"


def evaluated(path: Path) -> float:
    return germane.evaluate(QRELS, path, "AP")["AP"].mean


def test_a_line_of_ten_megabytes(tmp_path: Path) -> None:
    """It is refused unless it is allowed; an id, a tag or a comment may then be as long."""
    long = b"x" * 10_000_000
    (tmp_path / "run").write_bytes(b"# " + long + b"\nq Q0 " + long + b" 1 2 t\nq Q0 d 2 1 " + long)
    with pytest.raises(InputError, match="run:1: the line is longer than 1,048,576 bytes"):
        evaluated(tmp_path / "run")
    assert germane.evaluate(QRELS, tmp_path / "run", "AP", max_line="none")["AP"].mean == 0.5
    (tmp_path / "run").write_bytes(LINE + b"q Q0 " + long)
    with pytest.raises(InputError) as raised:
        germane.evaluate(QRELS, tmp_path / "run", "AP", max_line=20_000_000)
    assert len(str(raised.value)) < 300 + len(str(tmp_path))
    found = germane.check(QRELS, tmp_path / "run", "AP", max_line="none")
    assert found.serious[0].what == "malformed results"
    assert len(str(found)) < 2000 + len(str(tmp_path))


MANY = [100_000, pytest.param(1_000_000, marks=pytest.mark.long)]
DEEP = [300_000, pytest.param(10_000_000, marks=pytest.mark.long)]


@pytest.mark.parametrize("count", MANY)
@pytest.mark.parametrize("order", ["as judged", "shuffled"])
def test_many_queries_of_one_item(count: int, order: str, tmp_path: Path) -> None:
    numbers = list(range(count))
    (tmp_path / "qrels").write_bytes(b"".join(b"q%d 0 d%d 1\n" % (n, n) for n in numbers))
    if order == "shuffled":
        random.Random(1).shuffle(numbers)
    (tmp_path / "run").write_bytes(
        b"".join(b"q%d Q0 d%d 1 1 t\n" % (n, n + n % 2) for n in numbers)
    )
    with pytest.warns(germane.GermaneWarning, match="has only one result") as told:
        result = germane.evaluate(tmp_path / "qrels", tmp_path / "run", "RR")
    assert len(told) == 1
    assert result["RR"].mean == 0.5
    assert result.counts.answered == count


@pytest.mark.slow
@pytest.mark.parametrize("count", MANY)
def test_many_queries_of_one_item_in_python(count: int) -> None:
    qrels = {f"q{n}": {f"d{n}": 1} for n in range(count)}
    run = {f"q{n}": {f"d{n + n % 2}": 1.0} for n in range(count)}
    assert germane.evaluate(qrels, run, "RR")["RR"].mean == 0.5
    lists = {query: list(found) for query, found in run.items()}
    assert germane.evaluate(qrels, lists, "RR")["RR"].mean == 0.5


@pytest.mark.parametrize("count", DEEP)
@pytest.mark.parametrize("scores", ["falling", "rising", "equal"])
def test_one_query_of_many_items(count: int, scores: str, tmp_path: Path) -> None:
    """Equal scores stand in the order of the ids, from the last to the first."""
    score = {"falling": count, "rising": 0, "equal": 7}[scores]
    step = {"falling": -1, "rising": 1, "equal": 0}[scores]
    with (tmp_path / "run").open("wb") as out:
        out.writelines(b"q Q0 d%08d %d %d t\n" % (n, n + 1, score + step * n) for n in range(count))
    qrels = {"q": {f"d{n:08}": 1 for n in (0, count - 1)}}
    result = germane.evaluate(qrels, tmp_path / "run", "AP")
    assert result["AP"].mean == (1 + 2 / count) / 2
    assert result.counts.answered == 1


@pytest.mark.parametrize("count", DEEP)
def test_one_query_of_many_items_in_python(count: int) -> None:
    items = [f"d{n:08}" for n in range(count)]
    qrels = {"q": {items[0]: 1, items[-1]: 1}}
    right = (1 + 2 / count) / 2
    assert germane.evaluate(qrels, {"q": items}, "AP")["AP"].mean == right
    run = {"q": dict(zip(items, np.arange(count, 0, -1.0).tolist(), strict=True))}
    assert germane.evaluate(qrels, run, "AP")["AP"].mean == right
    assert germane.evaluate(qrels, {"q": dict.fromkeys(items, 0.0)}, "AP")["AP"].mean == right


@pytest.mark.parametrize("count", DEEP)
def test_many_equal_lines_but_the_last(count: int, tmp_path: Path) -> None:
    """The error names a line that is far behind, and only a part of what stands there."""
    with (tmp_path / "run").open("wb") as out:
        out.writelines(b"q Q0 d%08d %d 1.5 t\n" % (n, n + 1) for n in range(count))
        out.write(b"q Q0 d00000000 1 1.5 t\n")
    with pytest.raises(
        germane.errors.DuplicateError, match=rf"run:{count + 1}: .*twice.* on line 1\b"
    ):
        germane.evaluate({"q": {"d00000000": 1}}, tmp_path / "run", "AP")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", ""])
@pytest.mark.parametrize("before", [0, 1, 40_000])
@pytest.mark.parametrize("limit", [100, 1 << 20])
def test_a_long_line_is_refused_wherever_it_stands(
    limit: int, before: int, end: str, tmp_path: Path
) -> None:
    """One byte more than allowed is an error, also in the middle of what is read at once."""
    short = "".join(f"q Q0 e{i} {i} {-i} t{end or chr(10)}" for i in range(before))
    for more in (0, 1):
        line = "q Q0 d 1 1 ".ljust(limit + more, "t") + end
        (tmp_path / "run").write_bytes((short + line).encode())
        if not more:
            assert germane.evaluate(QRELS, tmp_path / "run", "AP", max_line=limit)
            continue
        with pytest.raises(
            InputError, match=f"run:{before + 1}: the line is longer than {limit:,} b"
        ):
            germane.evaluate(QRELS, tmp_path / "run", "AP", max_line=limit)
