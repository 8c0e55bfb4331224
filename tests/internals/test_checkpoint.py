"""A checkpoint: what was finished is not read again, and nothing else is taken for it."""

import gzip
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import germane
from germane.cli import main
from germane.presentation import writing
from germane.readers.files import trec_files
from germane.readers.objects import frames
from germane.records.checkpoint import evaluate_kept

from sizes import set_sizes

ROWS = [
    (f"q{query}", f"d{item * 37 % 101}", item % 13 / 4) for query in range(60) for item in range(50)
]
TABLE = pa.table(dict(zip(("query", "item", "score"), zip(*ROWS, strict=True), strict=True)))
LINES = "".join(f"{q} Q0 {item} 1 {score!r} t\n" for q, item, score in ROWS)
MEASURES = "AP nDCG@10 NumRet"


def trec(place: Path) -> Path:
    (place / "some.run").write_text(LINES)
    return place / "some.run"


def compressed(place: Path) -> Path:
    (place / "some.run.gz").write_bytes(gzip.compress(LINES.encode()))
    return place / "some.run.gz"


def parquet(place: Path) -> Path:
    pa.parquet.write_table(TABLE, place / "some.parquet", row_group_size=333)
    return place / "some.parquet"


def folder(place: Path) -> Path:
    (place / "some").mkdir()
    for part in range(8):
        pa.parquet.write_table(TABLE.slice(part * 380, 380), place / f"some/{part}.parquet")
    return place / "some"


KINDS: dict[str, Callable[[Path], Path]] = {
    "TREC": trec, "gzip": compressed, "Parquet": parquet, "folder": folder
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a few queries."""
    set_sizes(monkeypatch, block=4096)
    for module in (frames, trec_files):
        monkeypatch.setattr(module, "BATCH", 300)


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    lines = (
        f"q{query} 0 d{item} {item % 3}\n" for query in range(5, 63) for item in range(0, 90, 7)
    )
    (tmp_path / "qrels.txt").write_text("".join(lines))
    return tmp_path / "qrels.txt"


def kept(qrels: Path, run: Path, place: Path, **choices: Any) -> germane.types.Result:
    given = {"measures": MEASURES, "checkpoint": str(place / "kept"), "name": "some", **choices}
    return evaluate_kept(str(qrels), str(run), **given)


def same(one: germane.types.Result, other: germane.types.Result) -> None:
    assert one.counts == other.counts
    assert one.policy == other.policy
    assert one.findings == other.findings
    for measure in one:
        assert one[measure].values.tobytes() == other[measure].values.tobytes()
        assert one[measure].best == other[measure].best


def batches(place: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((place / "kept").glob("batch-*"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"ties": "given"},
        {"dialect": "ir_measures"},
        {"nonpositive": "miss", "unjudged": "remove"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_where_it_was_interrupted(
    kind: str, choices: Any, qrels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = KINDS[kind](tmp_path)
    whole = germane.evaluate(qrels, run, MEASURES, **choices)
    write, written = writing.replace, []

    def interrupted(path: str, data: bytes) -> None:
        if len(written) == 4:
            raise KeyboardInterrupt
        written.append(path)
        write(path, data)

    monkeypatch.setattr(writing, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kept(qrels, run, tmp_path, **choices)
    monkeypatch.setattr(writing, "replace", write)
    before = batches(tmp_path)
    assert len(before) == 3
    read: list[Any] = []
    reading = germane.Evaluator.reduce

    def counted(self: germane.Evaluator, batch: Any, **given: Any) -> Any:
        read.append(batch)
        return reading(self, batch, **given)

    monkeypatch.setattr(germane.Evaluator, "reduce", counted)
    same(whole, kept(qrels, run, tmp_path, **choices))
    after = batches(tmp_path)
    assert after[:3] == before
    assert len(read) == len(after) - 3 > 2
    same(whole, kept(qrels, run, tmp_path, **choices))
    assert len(read) == len(after) - 3, "nothing is left to be read"


def test_another_evaluation_is_refused(qrels: Path, tmp_path: Path) -> None:
    run = trec(tmp_path)
    kept(qrels, run, tmp_path)
    for choices, differs in (
        ({"measures": "RR"}, "measures"),
        ({"depth": 5}, "depth"),
        ({"dialect": "ranx"}, "dialect"),
    ):
        with pytest.raises(
            germane.errors.InputError,
            match=f"belongs to another evaluation; it differs in {differs}",
        ):
            kept(qrels, run, tmp_path, **choices)
    run.write_text(LINES + "q99 Q0 d1 1 1.0 t\n")
    with pytest.raises(germane.errors.InputError, match=r"differs in run\. Use another folder"):
        kept(qrels, run, tmp_path)
    with pytest.raises(germane.errors.InputError, match="differs in run"):
        kept(qrels, parquet(tmp_path), tmp_path)


def test_what_is_no_checkpoint(qrels: Path, tmp_path: Path) -> None:
    run = trec(tmp_path)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/notes.txt").touch()
    with pytest.raises(
        germane.errors.InputError, match="this folder is not a checkpoint, and it is not empty"
    ):
        kept(qrels, run, tmp_path)
    with pytest.raises(germane.errors.InputError, match="cannot be used for a checkpoint"):
        kept(qrels, run, tmp_path, checkpoint=str(run))
    with pytest.raises(germane.errors.InputError, match="standard input cannot"):
        kept(qrels, Path("-"), tmp_path)
    with pytest.raises(germane.errors.InputError, match="there is no such file"):
        kept(qrels, Path("nowhere"), tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:100], lambda data: b"", lambda data: b"x" * 500]
)
def test_a_damaged_batch(damage: Callable[[bytes], bytes], qrels: Path, tmp_path: Path) -> None:
    run = trec(tmp_path)
    kept(qrels, run, tmp_path)
    path = tmp_path / "kept/batch-000001.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        germane.errors.InputError, match=r"batch-000001\.npz: this batch .* is damaged"
    ):
        kept(qrels, run, tmp_path)


def test_a_batch_that_is_missing(qrels: Path, tmp_path: Path) -> None:
    """The numbers of the others would be those of a part."""
    run = trec(tmp_path)
    kept(qrels, run, tmp_path)
    (tmp_path / "kept" / "batch-000001.npz").unlink()
    with pytest.raises(
        germane.errors.InputError, match=r"kept: batch-000001\.npz is missing, although later"
    ):
        kept(qrels, run, tmp_path)


@pytest.mark.parametrize("text", ["", "[1]", "{"])
def test_a_damaged_description(text: str, qrels: Path, tmp_path: Path) -> None:
    run = trec(tmp_path)
    kept(qrels, run, tmp_path)
    (tmp_path / "kept" / "evaluation.json").write_text(text)
    with pytest.raises(germane.errors.InputError, match=r"evaluation\.json: this file is damaged"):
        kept(qrels, run, tmp_path)


def test_a_folder_is_another_where_a_link_leads_elsewhere(qrels: Path, tmp_path: Path) -> None:
    run = folder(tmp_path)
    (run / "more").symlink_to(tmp_path / "more", target_is_directory=True)
    (tmp_path / "more").mkdir()
    (run / "7.parquet").rename(tmp_path / "more" / "7.parquet")
    kept(qrels, run, tmp_path)
    pa.parquet.write_table(TABLE.slice(7 * 380, 200), tmp_path / "more" / "7.parquet")
    with pytest.raises(germane.errors.InputError, match="it differs in run"):
        kept(qrels, run, tmp_path)


@pytest.mark.parametrize("kind", ["TREC", "Parquet"])
def test_scattered_queries_have_no_batches(kind: str, qrels: Path, tmp_path: Path) -> None:
    if kind == "TREC":
        run = trec(tmp_path)
        run.write_text(
            "".join(sorted(LINES.splitlines(keepends=True), key=lambda line: line.split()[2]))
        )
    else:
        run = tmp_path / "some.parquet"
        pa.parquet.write_table(TABLE.sort_by("item"), run)
    with pytest.raises(germane.errors.InputError, match="queries of this run are scattered"):
        kept(qrels, run, tmp_path)


def test_the_command(qrels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = trec(tmp_path), parquet(tmp_path)
    given = ["evaluate", str(qrels), str(one), str(other), "-m", MEASURES, "--per-query"]
    assert main(given) == 0
    plain = capsys.readouterr()
    for _ in range(2):
        assert main([*given, "--checkpoint", str(tmp_path / "kept")]) == 0
        assert capsys.readouterr() == plain
    assert main([*given, "--depth", "3", "--checkpoint", str(tmp_path / "kept")]) == 2
    assert (
        "this checkpoint belongs to another evaluation; it differs in depth"
        in capsys.readouterr().err
    )


def test_a_disk_that_is_full(qrels: Path, tmp_path: Path) -> None:
    run = trec(tmp_path)
    command = "import sys; from germane.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", command, "evaluate", qrels, run, "--checkpoint", tmp_path / "kept"],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "batch-000000.npz: cannot be written (File too large)." in done.stderr
    assert not done.stdout
    assert [path.name for path in (tmp_path / "kept/1-some").iterdir()] == ["evaluation.json"]
