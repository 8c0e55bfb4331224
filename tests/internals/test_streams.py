"""Compressed files of several members, and files of little but blank lines."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

import germane
from germane.readers.files import formats, line_blocks, streams

from sizes import set_sizes

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "gz": gzip.compress,
}
QRELS = {"q": {"a": 1, "c": 1}}
PARTS = b"q Q0 a 1 3 t\nq Q0 b 2 2 t\n", b"q Q0 c 3 1 t\n"
AP = (1 / 1 + 2 / 3) / 2


def evaluated(path: Path, data: bytes) -> float:
    path.write_bytes(data)
    return germane.evaluate(QRELS, path, "AP")["AP"].mean


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("between", [b"", b"\0" * 32])
def test_members_are_read_to_the_last(tmp_path: Path, kind: str, between: bytes) -> None:
    one, two = map(COMPRESS[kind], PARTS)
    assert evaluated(tmp_path / "run", one + between + two) == AP


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_damaged_member_is_not_left_out(tmp_path: Path, kind: str) -> None:
    one, two = map(COMPRESS[kind], PARTS)
    for damaged in (b"X" + two[1:], b"more", bz2.compress(b"") if kind != "bz2" else b"\x1f\x8b"):
        with pytest.raises(
            germane.errors.InputError, match=r"the compressed file is (damaged|truncated)"
        ):
            evaluated(tmp_path / "run", one + damaged)
    with pytest.raises(germane.errors.InputError, match="the compressed file is truncated"):
        evaluated(tmp_path / "run", one + two[:-9])


BLANK = {"lines": b"\n", "CR LF": b"\r\n", "blanks": b" \t\n", "comments": b"# nothing\n"}


@pytest.mark.parametrize("line", BLANK.values(), ids=BLANK)
def test_lines_without_a_row_take_no_memory(
    tmp_path: Path, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block is held whole, and grows with the rows of a query alone."""
    set_sizes(monkeypatch, block=1 << 12)
    many = line * (20_000 // len(line))
    assert evaluated(tmp_path / "run", many + PARTS[0] + PARTS[1] + many) == AP
    with line_blocks.TextFile(tmp_path / "run") as file:
        assert max(len(block.data) for block in file.read_blocks()) <= 1 << 12
    number = many.count(b"\n") + 1
    with pytest.raises(germane.errors.FormatError, match=rf":{number}: 1 field where"):
        evaluated(tmp_path / "run", many + b"q\n")


def test_what_arrow_says_in_several_lines_is_one() -> None:
    with (
        pytest.raises(
            germane.errors.InputError, match=r"^a\.parquet: cannot be read \(no more data\)\.$"
        ),
        streams.explain_os_error("a.parquet"),
    ):
        raise OSError("no more\ndata\n")


def test_the_limits_of_decompression_that_are_documented() -> None:
    assert (streams.FREE, formats.EXPANSION) == (256 << 20, 1000)


def test_no_block_of_lines_is_longer_than_it_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_sizes(monkeypatch, block=64)
    path = tmp_path / "test.letor"
    path.write_text("".join(f"{n % 2} qid:{n // 7} 1:0 2:0.{n}\n" for n in range(400)))
    with line_blocks.TextFile(path) as file:
        blocks = [bytes(block.data) for block in file.read_blocks("lines")]
    assert b"".join(blocks) == path.read_bytes()
    assert max(map(len, blocks)) <= 64
