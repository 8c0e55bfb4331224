"""Files that were cut off, or in which bytes changed: an error with their name, or an answer."""

import bz2
import gzip
import json
import lzma
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import germane

ROWS = {
    "query": [f"q{i // 5}" for i in range(50)],
    "item": [f"d{i}" for i in range(50)],
    "score": [1 - i / 50 for i in range(50)],
}
QRELS = {f"q{i}": {f"d{5 * i}": 1} for i in range(10)}
LINES = "".join(
    f"{query} Q0 {item} 1 {score} x\n" for query, item, score in zip(*ROWS.values(), strict=True)
).encode()
XML = (
    '<?xml version="1.0" encoding="{}"?><annotation><filename>a.jpg</filename><size><width>10</width>'
    "<height>10</height></size><object><name>cat</name><difficult>0</difficult><bndbox><xmin>1</xmin>"
    "<ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object></annotation>"
)
FOUND = {"a": {"boxes": [[1, 1, 5, 5]], "labels": ["cat"], "scores": [0.5]}}


def _write_stream(path: str) -> None:
    table = pa.table(ROWS)
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def _write_arrays(save: Callable[..., None]) -> Callable[[str], None]:
    vectors = np.random.default_rng(1).random((50, 4))
    return lambda path: save(path, items=np.array(ROWS["item"]), vectors=vectors)


WRITERS: dict[str, Callable[[str], Any]] = {
    "run.parquet": lambda path: parquet.write_table(pa.table(ROWS), path),
    "categories.parquet": lambda path: parquet.write_table(
        pa.table({**ROWS, "query": pa.array(ROWS["query"]).dictionary_encode()}), path
    ),
    "run.feather": lambda path: feather.write_feather(
        pa.table(ROWS), path, compression="uncompressed"
    ),
    "run.arrow": _write_stream,
    "run.txt.gz": lambda path: Path(path).write_bytes(gzip.compress(LINES)),
    "run.txt.bz2": lambda path: Path(path).write_bytes(bz2.compress(LINES)),
    "run.txt.xz": lambda path: Path(path).write_bytes(lzma.compress(LINES)),
    "run.txt.zst": lambda path: Path(path).write_bytes(
        pa.compress(LINES, codec="zstd", asbytes=True)
    ),
    "run.json": lambda path: Path(path).write_text(json.dumps({"q1": {"d1": 0.5}, "q2": ["d1"]})),
    "vectors.npz": _write_arrays(np.savez),
    "packed.npz": _write_arrays(np.savez_compressed),
    "truth.xml": lambda path: Path(path).write_text(XML.format("utf-8")),
}
ENCODINGS = ("klingon", "utf-7", "idna", "hex", "rot13", "undefined", "mbcs", "punycode", "cp037")


def list_damaged(data: bytes, rng: random.Random, number: int) -> Iterator[bytes]:
    """The first bytes of a file, and the file with some bytes that are others."""
    for end in {0, 1, 4, 8, len(data) - 1, *rng.sample(range(len(data)), min(number, len(data)))}:
        yield data[:end]
    for _ in range(number):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 4])):
            changed[rng.randrange(len(changed))] = rng.choice([0, 255, 128, rng.randrange(256)])
        yield bytes(changed)


def read(path: str) -> None:
    """Read a file as what its name says; germane's own errors are fine."""
    with suppress(germane.GermaneError):
        if path.endswith(".npz"):
            germane.evaluate(QRELS, pa.table(ROWS), "ILD@5", distance=path)
        elif path.endswith(".xml"):
            germane.boxes.evaluate(str(Path(path).parent), FOUND, "AP50")
        else:
            germane.evaluate(QRELS, path, "AP")


def damage(name: str, seed: int, number: int) -> None:
    rng = random.Random(seed)
    WRITERS[name](name)
    data = Path(name).read_bytes()
    for damaged in list_damaged(data, rng, number):
        Path(name).write_bytes(damaged)
        read(name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_an_error_or_an_answer(name: str, tmp_path: Path) -> None:
    """In a process of its own, which a crash of a library would end."""
    call = f"import test_damaged_files as tests; tests.damage({name!r}, 1, 60)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-X", "faulthandler", "-c", call], cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_xml_in_an_encoding_that_nobody_reads(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "truth.xml").write_text(XML.format(encoding))
    with pytest.raises(germane.errors.FormatError, match=r"truth\.xml: .*(decoded|not XML)"):
        germane.boxes.evaluate(str(tmp_path), FOUND, "AP50")
