"""What breaks while a large run is read or written ends with an error that names the file; no number."""

import bz2
import gzip
import lzma
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import germane

ROWS, EACH = 20_000, 100
QUERY = [f"q{row // EACH}" for row in range(ROWS)]
ITEM = [f"d{row * 7919 % ROWS}" for row in range(ROWS)]
SCORE = np.random.default_rng(1).random(ROWS)
QRELS = {query: {item: 1} for query, item in zip(QUERY[::EACH], ITEM[::EACH], strict=True)}
TABLE = pa.table({"query": QUERY, "item": ITEM, "score": SCORE})


def folder(place: Path, files: int = 4, each: int = 2500) -> Path:
    """The run in a folder of Parquet files, each with two row groups; queries run on between files."""
    made = place / "run"
    made.mkdir()
    step = ROWS // files
    for part in range(files):
        pa.parquet.write_table(
            TABLE.slice(part * step, step), made / f"part-{part}.parquet",
            row_group_size=each, write_page_checksum=True,
        )  # fmt: skip
    return made


# --- Folders of Parquet files ----------------------------------------------------------------------


@pytest.mark.parametrize("files", [1, 4, 7])
def test_a_folder_is_one_run(files: int, tmp_path: Path) -> None:
    whole = germane.evaluate(QRELS, TABLE, "AP nDCG@10 NumRet")
    made = folder(tmp_path, files, 999)
    (made / "_metadata").touch()
    (made / ".part-0.parquet.crc").touch()
    got = germane.evaluate(QRELS, made, "AP nDCG@10 NumRet")
    assert got.name == "run"
    assert got.counts.answered == (ROWS // files * files - 1) // EACH + 1
    if files != 7:
        for measure in whole:
            assert got[measure].values.tobytes() == whole[measure].values.tobytes()


def test_folders_inside_and_their_order(tmp_path: Path) -> None:
    made = folder(tmp_path)
    for part in range(4):
        (made / f"day={part}").mkdir()
        (made / f"part-{part}.parquet").rename(made / f"day={part}" / "part-0.parquet")
    got = germane.evaluate(QRELS, made, "AP")
    assert got["AP"].mean == germane.evaluate(QRELS, TABLE, "AP")["AP"].mean


def test_a_folder_is_read_whole_whatever_its_files_are_called(tmp_path: Path) -> None:
    """What is left out without a word would be a number of a part."""
    made = folder(tmp_path)
    (made / "part-0.parquet").rename(made / "part-0.PARQUET")
    (made / "part-1.parquet").rename(made / "part-1")
    (made / "part-4").mkdir()
    (made / "part-3.parquet").rename(made / "part-4" / "part-3.parq")
    (made / "part-4").rename(tmp_path / "elsewhere")
    (made / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    got = germane.evaluate(QRELS, made, "AP")
    assert got["AP"].mean == germane.evaluate(QRELS, TABLE, "AP")["AP"].mean


def test_a_link_that_leads_back_is_an_error(tmp_path: Path) -> None:
    """It would count every file once a turn."""
    made = folder(tmp_path)
    (made / "inside").mkdir()
    (made / "inside" / "again").symlink_to(made, target_is_directory=True)
    with pytest.raises(
        germane.errors.InputError, match=r"inside.again: this link leads back to .*run"
    ):
        germane.evaluate(QRELS, made, "AP")


def test_what_engines_put_aside_is_no_part_of_a_folder(tmp_path: Path) -> None:
    made = folder(tmp_path)
    for aside in ("_temporary", ".spark-staging", "_delta_log", "_of=1"):
        (made / aside).mkdir()
        shutil.copy(made / "part-3.parquet", made / aside / "part-9.parquet")
    with pytest.raises(germane.errors.DuplicateError):
        germane.evaluate(QRELS, made, "AP")
    (made / "part-3.parquet").unlink()
    got = germane.evaluate(QRELS, made, "AP")
    assert got["AP"].mean == germane.evaluate(QRELS, TABLE, "AP")["AP"].mean


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder(tmp_path)
    (made / "day=1").mkdir()
    listed = os.scandir

    def refused(place: str) -> Any:
        if str(place).endswith("day=1"):
            raise PermissionError(13, "Permission denied", place)
        return listed(place)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(germane.errors.InputError, match=r"day=1: no permission to read"):
        germane.evaluate(QRELS, made, "AP")


def test_qrels_in_a_folder(tmp_path: Path) -> None:
    made = tmp_path / "qrels"
    made.mkdir()
    for part, query in enumerate(QRELS):
        table = pa.table({"query": [query], "item": list(QRELS[query]), "relevance": [1]})
        pa.parquet.write_table(table, made / f"{part:03}.parquet")
    got = germane.evaluate(made, TABLE, "AP")
    assert got["AP"].mean == germane.evaluate(QRELS, TABLE, "AP")["AP"].mean


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_is_that_of_a_few_row_groups(threads: int, tmp_path: Path) -> None:
    """And not that of the file: what was read is given back. Each thread has some in hand."""
    rows = 1 << 19
    queries, numbers = np.arange(rows) // 100, np.random.default_rng(2)
    with pa.parquet.ParquetWriter(tmp_path / "run.parquet", WIDE) as out:
        for part in range(16):
            out.write_table(pa.table({
                "query": queries + part * rows, "item": np.arange(rows), "score": numbers.random(rows)
            }))  # fmt: skip
    code = (
        "import germane, pyarrow as pa, sys, warnings; warnings.simplefilter('ignore')\n"
        "germane.evaluate({0: [1]}, sys.argv[1], 'AP')\n"
        "print(pa.default_memory_pool().max_memory())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.parquet")],
        capture_output=True, text=True, check=True,
        env={**os.environ, "GERMANE_THREADS": str(threads)},
    )  # fmt: skip
    assert int(done.stdout) < (3 + 2 * threads) * rows * 24


WIDE = pa.schema({"query": pa.int64(), "item": pa.int64(), "score": pa.float64()})


# --- Broken files ----------------------------------------------------------------------------------


def test_a_damaged_row_group(tmp_path: Path) -> None:
    path = folder(tmp_path) / "part-2.parquet"
    at = pa.parquet.read_metadata(path).row_group(1).column(2).data_page_offset
    data = bytearray(path.read_bytes())
    data[at + 100 : at + 108] = bytes(8)
    path.write_bytes(data)
    with pytest.raises(
        germane.errors.InputError, match=r"part-2\.parquet, row group 1: cannot be read"
    ):
        germane.evaluate(QRELS, path.parent, "AP")


def test_a_list_of_ids_that_has_one_twice(tmp_path: Path) -> None:
    """Arrow's reader counts it once, so that all behind it would be other items."""
    path = tmp_path / "run.parquet"
    run = pa.table({"query": ["q1"] * 3, "item": ["item-a", "item-b", "item-c"], "rank": [1, 2, 3]})
    pa.parquet.write_table(run, path, compression="none", write_statistics=False)
    written = path.read_bytes()
    assert written.count(b"item-b") == 1
    path.write_bytes(written.replace(b"item-b", b"item-a"))
    says = r"run\.parquet, column 'item', row 2: the id is entry 2 of a dictionary of 2, which is damaged or"
    with pytest.raises(germane.errors.InputError, match=says):
        germane.evaluate({"q1": {"item-c": 1}}, path, "AP")


@pytest.mark.parametrize("entry", [3, -1])
@pytest.mark.parametrize("middle", ["b", None])
def test_an_entry_that_a_list_of_ids_does_not_have(entry: int, middle: str | None) -> None:
    places = pa.array([0, 2, entry], pa.int32())
    items = pa.DictionaryArray.from_arrays(places, pa.array(["a", middle, "c"]), safe=False)
    run = pa.table({"query": ["q1"] * 3, "item": items, "rank": [1, 2, 3]})
    with pytest.raises(
        germane.errors.InputError, match=rf"row 2: the id is entry {entry} of a dictionary of 3"
    ):
        germane.evaluate({"q1": {"c": 1}}, run, "AP")


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_ids_stored_as_what_differs(encoding: str, tmp_path: Path) -> None:
    """Which Arrow does not read as categories, as it does other text."""
    for part, rows in enumerate((TABLE.slice(0, 5000), TABLE.slice(5000))):
        how = {"use_dictionary": False, "column_encoding": {"item": encoding}} if part else {}
        pa.parquet.write_table(rows, tmp_path / f"part-{part}.parquet", **how)
    whole = germane.evaluate(QRELS, TABLE, "AP NumRet")
    got = germane.evaluate(QRELS, tmp_path, "AP NumRet")
    for measure in whole:
        assert got[measure].values.tobytes() == whole[measure].values.tobytes()


def test_a_file_without_its_end(tmp_path: Path) -> None:
    path = folder(tmp_path) / "part-1.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(germane.errors.InputError, match=r"part-1\.parquet: cannot be read"):
        germane.evaluate(QRELS, path.parent, "AP")


def wrong_parts() -> list[tuple[pa.Table, str]]:
    part = TABLE.slice(5000, 5000)
    numbers = pa.array(np.arange(5000))
    wrong = part.column("score").to_numpy().copy()
    wrong[17] = np.nan
    return [
        (part.drop_columns(["score"]), r"part-1\.parquet: there is no column 'score', which .*part-0"),
        (part.set_column(1, "item", numbers), r"part-1\.parquet: column 'item' is int64; in .*string"),
        (part.set_column(2, "score", pa.array(wrong)), r"part-1\.parquet, column 'score', row 17: a score"),
        (part.append_column("score", part["score"]), r"part-1\.parquet: two columns are named 'score'"),
        (part.rename_columns(["query", "thing", "score"]), r"part-1\.parquet: there is no column 'item'"),
    ]  # fmt: skip


@pytest.mark.parametrize(("part", "says"), wrong_parts())
def test_a_file_unlike_the_others(part: pa.Table, says: str, tmp_path: Path) -> None:
    made = folder(tmp_path)
    pa.parquet.write_table(part, made / "part-1.parquet")
    with pytest.raises(germane.errors.InputError, match=says):
        germane.evaluate(QRELS, made, "AP")


def test_a_folder_without_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(germane.errors.InputError, match=r"with no Parquet file in it\.$"):
        germane.evaluate(QRELS, tmp_path, "AP")
    judged = tmp_path / "qrels" / "test.tsv"  # as BEIR has it
    judged.parent.mkdir()
    judged.touch()
    with pytest.raises(germane.errors.EmptyError, match=re.escape(f"{judged}: the file is empty")):
        germane.evaluate(tmp_path, QRELS, "AP")
    with pytest.raises(
        germane.errors.InputError, match=re.escape(f"Give one of its files: {str(judged)!r}.")
    ):
        germane.evaluate(judged.parent, QRELS, "AP")


def zstd(data: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(data)
    return bytes(out.getvalue())


TEXT = {
    "run": "{} Q0 {} 1 {} tag\n",
    "csv": "{},{},{}\n",
    "jsonl": '{{"query": "{}", "item": "{}", "score": {}}}\n',
}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "bz2": bz2.compress, "zst": zstd, "xz": lzma.compress
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("kind", TEXT)
@pytest.mark.parametrize("how", ["truncated", "damaged"])
def test_a_compressed_file_broken_in_the_middle(
    kind: str, compression: str, how: str, tmp_path: Path
) -> None:
    head = "query,item,score\n" if kind == "csv" else ""
    text = head + "".join(map(TEXT[kind].format, QUERY, ITEM, SCORE.tolist()))
    path = tmp_path / f"broken.{kind}.{compression}"
    data = COMPRESS[compression](text.encode())
    middle = len(data) // 2
    end = b"" if how == "truncated" else bytes(16) + data[middle + 16 :]
    path.write_bytes(data[:middle] + end)
    with pytest.raises(germane.errors.InputError, match=rf"broken\.{kind}\.{compression}"):
        germane.evaluate(QRELS, path, "AP")


# --- Disks that are full ---------------------------------------------------------------------------


def limited(code: str, *arguments: Any, size: int = 4096) -> str:
    """What a process says that may write no file larger than some bytes."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip
    assert done.returncode
    return done.stderr.splitlines()[-1]


CLI = "import sys; from germane.cli import main; sys.exit(main(sys.argv[1:]))"


def test_output_that_has_no_room(tmp_path: Path) -> None:
    """What was there stays, and nothing half-written is left."""
    out = tmp_path / "values.csv"
    out.write_text("before")
    files = ["examples/digits/qrels.txt", "examples/digits/lda.run"]
    said = limited(CLI, "evaluate", *files, "--per-query", "--format", "csv", "-o", out)
    assert said == f"germane: {out}: cannot be written (File too large)."
    assert out.read_text() == "before"
    assert list(tmp_path.iterdir()) == [out]
