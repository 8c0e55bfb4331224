"""Bombs, places and environments beyond the usual: nothing hangs, nothing is wrong, nothing is left."""

import bz2
import gzip
import io
import locale
import lzma
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import germane
from germane import cli
from germane.errors import InputError, MeasureError, PolicyError

from sizes import set_sizes

QRELS = {"q": {"d": 1}}
LINE = b"q Q0 d 1 0.5 t\n"


def evaluated(path: object, **choices: object) -> float:
    return germane.evaluate(QRELS, path, "AP", **choices)["AP"].mean  # type: ignore[arg-type]


# --- Compressed files that become very large -------------------------------------------------------


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data))


BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_compressed_file_that_becomes_too_large(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blank lines, of which hundreds are a byte, and a limit that is soon reached."""
    path = tmp_path / f"run.{kind}"
    path.write_bytes(BOMBS[kind](LINE + b"\n" * 100_000))
    assert evaluated(path) == 1.0, "256 MB are anybody's"
    set_sizes(monkeypatch, free=1 << 16)
    with pytest.raises(InputError, match=f"run.{kind}: .* more than 100 times") as raised:
        evaluated(path, max_expansion=100)
    assert "max_expansion=none" in str(raised.value)
    assert evaluated(path, max_expansion="none") == 1.0
    assert evaluated(path, max_expansion=1e9) == 1.0
    with pytest.raises(InputError, match="more than 2 times"):
        germane.read_run(path, max_expansion=2)
    assert len(germane.read_run(path, max_expansion="none")) == 1


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl"])
def test_files_of_columns_have_the_limit_too(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"run.{name}.gz"
    comma = "," if name == "csv" else "\t"
    rows = [("query", "item", "score"), ("q", "d", "1")]
    text = "\n".join(map(comma.join, rows)) + "\n" * 100_000
    if name == "jsonl":
        text = '{"query": "q", "item": "d", "score": 1}\n' + " \n" * 100_000
    path.write_bytes(gzip.compress(text.encode()))
    assert evaluated(path) == 1.0
    set_sizes(monkeypatch, free=1 << 16)
    with pytest.raises(InputError, match=f"run.{name}.gz: .* more than 100 times"):
        evaluated(path, max_expansion=100)
    assert evaluated(path, max_expansion="none") == 1.0


def test_the_limit_that_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without an end is refused before memory is full."""
    set_sizes(monkeypatch, free=16 << 20)
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(bytes(32 << 20)))
    with pytest.raises(InputError, match="more than 1000 times") as raised:
        evaluated(path, max_line="none")
    assert f"{path}: " in str(raised.value)
    with pytest.raises(InputError, match=r"run\.gz:1: the line is longer than 1,048,576 bytes"):
        evaluated(path)


@pytest.mark.parametrize("wrong", [0, -1, 0.5, "all", True, [], float("nan")])
def test_what_is_no_limit(wrong: object) -> None:
    with pytest.raises(PolicyError, match="max_expansion takes a number from 1, or none"):
        evaluated("run.gz", max_expansion=wrong)


def test_the_limit_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_bytes(lzma.compress(LINE + b"\n" * 200_000))
    set_sizes(monkeypatch, free=1 << 16)
    paths = [str(tmp_path / name) for name in ("qrels", "run")]
    for command in ("evaluate", "check"):
        assert cli.main([command, *paths, "-m", "AP"]) == 2
        assert "more than 1000 times" in capsys.readouterr().err
        assert cli.main([command, *paths, "-m", "AP", "--max-expansion", "none"]) == 0
        assert cli.main([command, *paths, "-m", "AP", "--max-expansion", "1e9"]) == 0
        assert cli.main([command, *paths, "-m", "AP", "--max-expansion", "0"]) == 2
        capsys.readouterr()


# --- Names of measures -----------------------------------------------------------------------------

LONG = 1_000_000


@pytest.mark.parametrize(
    "name",
    [
        "A" * LONG,
        "AP" + "(" * LONG,
        "AP" + "(" * LONG + ")" * LONG,
        "AP(" + "norm=R," * (LONG // 7) + ")",
        "nDCG(gain=" + "0:1/" * (LONG // 4) + ")",
        "AP@" + "9" * LONG,
        "P(rel=" + "1" * LONG + ")@5",
        "AP@1" * (LONG // 4),
        "AP(norm=" + "AP(norm=" * (LONG // 8),
        "@" * LONG,
        "trec_eval:" * (LONG // 10),
        "AP\0" * 1000,
        "\ud800" * 1000,
        "e\u0301" * (LONG // 2),
        "AP@" + " " * 50_000 + "x",
        "AP@" + "." * 50_000 + "x",
        "a" + ";" * 50_000 + "b",
    ],
    ids=lambda name: ascii(name[:16]),
)
def test_hostile_names_of_measures_are_refused_soon(name: str) -> None:
    started = time.process_time()
    with pytest.raises(MeasureError) as raised:
        germane.parse(name)
    assert time.process_time() - started < 2
    assert len(str(raised.value)) < 2000


def test_a_long_name_is_refused_soon_in_a_dialect() -> None:
    started = time.process_time()
    with pytest.raises(MeasureError, match="ranx has no measure 'xxx"):
        germane.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "x" * 10**6, dialect="ranx")
    assert time.process_time() - started < 2


# --- Environments ----------------------------------------------------------------------------------


COMMA = """
import contextlib, io, locale, sys, germane
from germane import cli
locale.setlocale(locale.LC_ALL, "")
assert locale.localeconv()["decimal_point"] == ","
for path in sys.argv[2:]:
    result = germane.evaluate(sys.argv[1], path, "AP")
    assert result["AP"].mean == 0.5, (path, result["AP"].mean)
    assert "0.5000" in str(result)
    for form in ("csv", "json", "html", "latex"):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            assert cli.main(["evaluate", sys.argv[1], path, "-m", "AP", "--format", form]) == 0
        assert "0.5" in told.getvalue() and "0,5" not in told.getvalue()
assert str(germane.parse("P(rel=0.5)@5")) == "P(rel=0.5)@5"
"""


@pytest.fixture
def comma(tmp_path: Path) -> dict[str, str]:
    """An environment whose locale writes numbers with a comma: an installed one, or one made here."""
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"):
        if _settable(name):
            return {**os.environ, "LC_ALL": name}
    made = ["localedef", "-f", "UTF-8", "-i", "de_DE", str(tmp_path / "de_DE.UTF-8")]
    if shutil.which("localedef") is None or subprocess.run(made, check=False).returncode:
        pytest.skip("no locale with a decimal comma is installed, and none can be made")
    return {**os.environ, "LC_ALL": "de_DE.UTF-8", "LOCPATH": str(tmp_path)}


@pytest.mark.slow
def test_a_locale_with_a_decimal_comma(comma: dict[str, str], tmp_path: Path) -> None:
    """Numbers are read and written with a point, whatever the locale of the process."""
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 x 1 1.5 t\nq Q0 d 2 1.25 t\n")
    (tmp_path / "odd").write_text("q Q0 x 1 1.5 t\nq  Q0 d 2 .125e1 t\n")  # not all alike
    (tmp_path / "run.csv").write_text("query,item,score\nq,x,1.5\nq,d,1.25\n")
    (tmp_path / "run.jsonl").write_text(
        '{"query":"q","item":"x","score":1.5}\n{"query":"q","item":"d","score":1.25}\n'
    )
    paths = [str(tmp_path / name) for name in ("qrels", "run", "odd", "run.csv", "run.jsonl")]
    done = subprocess.run(
        [sys.executable, "-c", COMMA, *paths],
        env=comma,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _settable(name: str) -> bool:
    kept = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_ALL, kept)
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
    ],
    ids=lambda environment: " ".join(environment.values()),
)
def test_ids_and_definitions_in_any_environment(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The same bytes come out, whatever encoding Python takes the terminal to have."""
    (tmp_path / "qrels").write_bytes("caf\u00e9 0 \u6587\u66f8 1\n".encode() + b"\xff\xfe 0 d 1\n")
    (tmp_path / "run").write_bytes(
        "caf\u00e9 Q0 \u6587\u66f8 1 0.5 t\n".encode() + b"\xff\xfe Q0 d 1 1 t\n"
    )
    paths = [str(tmp_path / name) for name in ("qrels", "run")]
    for command in (["evaluate", *paths, "--per-query", "-m", "AP@10"], ["check", *paths]):
        done = subprocess.run(
            [sys.executable, "-m", "germane", *command],
            env={**os.environ, **environment}, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        if command[0] == "evaluate":
            text = done.stdout.decode("utf-8")
            assert "caf\u00e9" in text
            assert "\u03a3 P@i" in text
            assert r"\udcff\udcfe" in text


def test_bytes_that_are_not_utf_8_are_kept_exactly(tmp_path: Path) -> None:
    """Every byte but NUL, blanks and line ends, alone and in pairs."""
    odd = [bytes([n]) for n in range(1, 256) if n not in b" \t\r\n#"]
    ids = [b"x" + one + other for one in odd[::7] for other in odd]
    (tmp_path / "qrels").write_bytes(b"".join(b"q 0 " + one + b" 1\n" for one in ids))
    (tmp_path / "run").write_bytes(
        b"".join(b"q Q0 %b %d %d t\n" % (one, n, -n) for n, one in enumerate(ids))
    )
    qrels = germane.read_qrels(tmp_path / "qrels")
    assert [item.encode("utf-8", "surrogateescape") for item in map(str, qrels.items)] == ids
    assert germane.evaluate(qrels, tmp_path / "run", "AP")["AP"].mean == 1.0
    held = germane.check(tmp_path / "qrels", tmp_path / "run", "AP")
    assert held.serious == ()


# --- Places ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["qrels", "run", "both"])
def test_pipes(which: str, tmp_path: Path) -> None:
    """Larger than a pipe holds, read more than once."""
    rows = {
        "qrels": b"q 0 d 1\n" * 1,
        "run": b"".join(b"q Q0 d%d 1 %d t\n" % (n, n) for n in range(20_000)),
    }
    rows["run"] += b"p Q0 d 1 1 t\nq Q0 d 1 99999 t\n"
    paths = {}
    for name, data in rows.items():
        paths[name] = tmp_path / name
        if which in (name, "both"):
            os.mkfifo(paths[name])
            threading.Thread(target=paths[name].write_bytes, args=(data,), daemon=True).start()
        else:
            paths[name].write_bytes(data)
    assert germane.evaluate(paths["qrels"], paths["run"], "AP")["AP"].mean == 1.0


COLUMNS = {
    "csv": b"query,item,score\nq,d,1\nq,e,2\n",
    "tsv": b"query\titem\tscore\nq\td\t1\nq\te\t2\n",
    "jsonl": b'{"query": "q", "item": "d", "score": 1}\n{"query": "q", "item": "e", "score": 2}\n',
    "msmarco": b"q\te\t1\nq\td\t2\n",
}


def stood(kind: str) -> bytes:
    """The same rows in a file that Arrow reads in parts."""
    table = pa.table({"query": ["q", "q"], "item": ["d", "e"], "score": [1.0, 2.0]})
    out = io.BytesIO()
    {"arrow": feather.write_feather, "parquet": parquet.write_table}[kind](table, out)
    return out.getvalue()


def given_by(way: str, data: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of what hands out these bytes once."""
    if way == "standard input":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return "-"
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True).start()
    return str(pipe)


@pytest.mark.parametrize("way", ["standard input", "a pipe"])
@pytest.mark.parametrize("packed", [None, *BOMBS])
@pytest.mark.parametrize("kind", [*COLUMNS, "arrow", "parquet"])
def test_columns_that_come_once(
    kind: str, packed: str | None, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compressed or not: their first bytes say so, and no suffix has to."""
    if kind in COLUMNS:
        data = COLUMNS[kind]
    elif packed is None:
        data = stood(kind)
    else:
        return  # a test of its own
    data = data if packed is None else BOMBS[packed](data)
    path = given_by(way, data, tmp_path, monkeypatch)
    assert evaluated(path, input_format=kind) == 0.5


@pytest.mark.parametrize("way", ["standard input", "a pipe"])
@pytest.mark.parametrize("kind", ["trec", "csv", "jsonl"])
def test_what_comes_once_has_the_limit_too(
    kind: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"trec": LINE, **COLUMNS}[kind] + b"\n" * 100_000
    path = given_by(way, gzip.compress(data), tmp_path, monkeypatch)
    set_sizes(monkeypatch, free=1 << 16)
    with pytest.raises(InputError, match=r"(input|pipe): .* more than 100 times"):
        evaluated(path, input_format=kind, max_expansion=100)


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_files_that_are_read_in_parts(kind: str, tmp_path: Path) -> None:
    """As a whole they are neither compressed nor empty."""
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(stood(kind)))
    with pytest.raises(InputError, match=r"/run: a file of this format .*gzip.* decompress it"):
        evaluated(path, input_format=kind)
    path.write_bytes(b"")
    with pytest.raises(germane.errors.EmptyError, match="/run: the file is empty"):
        evaluated(path, input_format=kind)


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.TextIOWrapper(io.BytesIO())
    closed.close()
    for stdin in (None, closed):
        monkeypatch.setattr(sys, "stdin", stdin)
        for kind in ("trec", "csv", "parquet"):
            with pytest.raises(InputError, match="standard input is closed"):
                evaluated("-", input_format=kind)


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    """Whole lines that come late are read or not; no line is read in half, and reading ends.

    Lines have 32 bytes: what is written across the end of a page may be seen in part.
    """
    path = tmp_path / "run"
    rows = [b"q Q0 d%06d %06d %09d t\n" % (n, n + 1, -n) for n in range(40_000)]
    path.write_bytes(b"".join(rows))
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as out:
            for n in range(40_000, 400_000):
                if stop.is_set():
                    return
                out.write(b"q Q0 d%06d %06d %09d t\n" % (n, n + 1, -n))

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(5):
            result = germane.evaluate({"q": {"d000000": 1}}, path, "RR")
            assert result["RR"].mean == 1.0
    finally:
        stop.set()
        writer.join()


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_bytes(LINE)
    paths = [str(tmp_path / name) for name in ("qrels", "run")]
    for command in ("evaluate", "check"):
        for place in ("/proc/nothing/out", "/dev/full", str(tmp_path / "no" / "out")):
            if os.path.exists(place) or not place.startswith("/dev"):
                assert cli.main([command, *paths, "-m", "AP", "-o", place]) == 2
                assert "cannot be written" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["qrels", "run"]
