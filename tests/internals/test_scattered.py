"""Runs whose queries are scattered over a file: sorted in memory or on disk, the numbers are the same."""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import germane
from germane.readers.files import streams

from sizes import set_sizes

RNG = random.Random(7)
QUERIES = [f"q{number}" for number in range(40)]
ROWS = [(q, f"d{RNG.randrange(400)}", RNG.randrange(20) / 4) for q in QUERIES for _ in range(30)]
UNIQUE = list({row[:2]: row for row in ROWS}.values())
QRELS = {q: {f"d{n}": n % 3 for n in range(0, 400, 7)} for q in [*QUERIES[3:], "missing"]}


def shuffled(rows: list[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
    return random.Random(3).sample(rows, len(rows))


def as_trec(rows: list[tuple[str, str, float]], path: Path) -> Path:
    path.write_text("".join(f"{q} Q0 {item} 1 {score!r} t\n" for q, item, score in rows))
    return path


def as_csv(rows: list[tuple[str, str, float]], path: Path) -> Path:
    path = path.with_suffix(".csv")
    path.write_text("query,item,score\n" + "".join(f"{q},{i},{s!r}\n" for q, i, s in rows))
    return path


def as_parquet(rows: list[tuple[str, str, float]], path: Path, **kinds: Any) -> Path:
    columns = zip(("query", "item", "score"), zip(*rows, strict=True), strict=True)
    table = pa.table({name: pa.array(values, kinds.get(name)) for name, values in columns})
    pa.parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=170)
    return path.with_suffix(".parquet")


KINDS = {"TREC": as_trec, "CSV": as_csv, "Parquet": as_parquet}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly nothing is sorted in memory."""
    set_sizes(monkeypatch, held=100)


def same(one: germane.types.Result, other: germane.types.Result) -> None:
    assert one.counts == other.counts
    for measure in one:
        assert one[measure].values.tobytes() == other[measure].values.tobytes()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ties", ["trec", "given", "expected", "worst"])
@pytest.mark.parametrize("kind", KINDS)
def test_on_disk_the_numbers_are_the_same(kind: str, ties: Any, tmp_path: Path) -> None:
    rows = shuffled(UNIQUE)
    run: dict[str, dict[str, float]] = {}
    for query, item, score in rows:
        run.setdefault(query, {})[item] = score
    whole = germane.evaluate(QRELS, run, "AP nDCG@5 P@3 NumRet", ties=ties)
    path = KINDS[kind](rows, tmp_path / "run")
    same(whole, germane.evaluate(QRELS, path, "AP nDCG@5 P@3 NumRet", ties=ties))


@pytest.mark.parametrize("duplicates", ["first", "last", "max", "keep", "recount"])
@pytest.mark.parametrize("kind", KINDS)
def test_repeated_rows_keep_their_order(
    kind: str, duplicates: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = KINDS[kind](shuffled(ROWS), tmp_path / "run")
    in_memory = germane.evaluate(QRELS, path, "AP NumRet", duplicates=duplicates)
    set_sizes(monkeypatch, held=100)
    same(in_memory, germane.evaluate(QRELS, path, "AP NumRet", duplicates=duplicates))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", KINDS)
def test_a_repeated_row_is_found(kind: str, tmp_path: Path) -> None:
    rows = shuffled(UNIQUE)
    again = next(row for row in rows if row[0] in QRELS)
    path = KINDS[kind]([*rows, again], tmp_path / "run")
    with pytest.raises(
        germane.errors.DuplicateError, match=f"item '{again[1]}' is retrieved twice for query"
    ):
        germane.evaluate(QRELS, path, "AP")


@pytest.mark.usefixtures("small")
def test_ids_that_are_integers_and_ranks(tmp_path: Path) -> None:
    rows = [(query, item, 1 + item) for query in range(50) for item in range(9)]
    query, item, rank = zip(*random.Random(1).sample(rows, len(rows)), strict=True)
    path = tmp_path / "run.parquet"
    pa.parquet.write_table(pa.table({"query": query, "item": item, "rank": rank}), path)
    judged = {query: {query % 9: 1} for query in range(50)}
    got = germane.evaluate(judged, path, "RR")
    assert got["RR"].per_query == {query: 1 / (1 + query % 9) for query in range(50)}
    categories = pa.dictionary(pa.int32(), pa.string())
    text = as_parquet(
        [(f"{q}", f"{i}", -r) for q, i, r in rows[::-1]], tmp_path / "text", query=categories
    )
    assert (
        germane.evaluate({f"{q}": {f"{q % 9}": 1} for q in range(50)}, text, "RR")["RR"].mean
        == got["RR"].mean
    )


@pytest.mark.parametrize("kind", KINDS)
def test_progress_says_which_way_is_taken(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name that is shown says so from the moment on that it is known."""
    path, said = KINDS[kind](shuffled(UNIQUE), tmp_path / "run"), []

    def told(name: str, done: int, size: int | None) -> None:
        said.append(name.removeprefix(str(path)))

    germane.evaluate(QRELS, path, "AP", progress=told)
    assert dict.fromkeys(said) == {"": None, " (its queries are scattered: sorted in memory)": None}
    set_sizes(monkeypatch, held=0)
    set_sizes(monkeypatch, step=10)  # short records stay as they are
    said.clear()
    germane.evaluate(QRELS, path, "AP", progress=told)
    if kind == "Parquet":  # of several row groups; the text is one block
        assert said[-1] == " (its queries are scattered: sorted on disk)"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_on_the_disk(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither at the end nor where reading is interrupted."""
    path = KINDS[kind](shuffled(UNIQUE), tmp_path / "run")
    (tmp_path / "disk").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "disk"))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    germane.evaluate(QRELS, path, "AP")
    assert not list((tmp_path / "disk").iterdir())

    def interrupted(self: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(streams.Spill, "read_parts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        germane.evaluate(QRELS, path, "AP")
    assert not list((tmp_path / "disk").iterdir())
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


FULL = """
import resource, sys, germane
from germane.readers.files import streams
streams.HELD = 100
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    germane.evaluate({"q3": ["d1"]} | {f"q{n}": ["d7"] for n in range(40)}, sys.argv[1], "AP")
except germane.errors.InputError as error:
    print(error)
"""


def without_room(size: int, path: str, place: Path, given: str = "") -> str:
    """What is said where no file may be larger than some bytes."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL, path, str(size)],  # bytecode would be cut off, too
        capture_output=True, text=True, check=False, env=os.environ | {"TMPDIR": str(place)}, input=given,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("size", "why"), [(1000, "File too large"), (0, "No usable temporary directory")]
)
def test_a_disk_that_is_full(kind: str, size: int, why: str, tmp_path: Path) -> None:
    path = KINDS[kind](shuffled(UNIQUE * 1), tmp_path / "run")
    said = without_room(size, str(path), tmp_path)
    assert said.startswith(f"{tmp_path}: cannot be written ({why}")
    assert "The queries of the run are scattered" in said
    assert "Set TMPDIR to use another folder" in said


@pytest.mark.parametrize(
    ("size", "why"), [(1000, "File too large"), (0, "No usable temporary directory")]
)
def test_a_disk_without_room_for_a_copy_of_standard_input(
    size: int, why: str, tmp_path: Path
) -> None:
    said = without_room(size, "-", tmp_path, "q3 Q0 d1 1 1.0 t\n" * 100)
    assert said.startswith(f"{tmp_path}: cannot be written ({why}")
    assert "A copy of standard input is made there" in said
