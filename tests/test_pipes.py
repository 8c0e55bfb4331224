"""Pipes without an end, devices, and requests that no machine can answer: a sentence, in time."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import germane

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such devices here")

ENDLESS = {
    "words": "yes x",
    "one bad line": "(echo bad; yes 'q1 Q0 a 1 1.0 t')",
    "two fields": "(echo bad line; yes 'q1 Q0 a 1 1.0 t')",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 1.0 t\n")
    for folder in ("truth", "found", "pictures", "parts", "notes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "found" / "image.txt").write_text("0 .5 .5 .2 .2 .9\n")
    for pipe in ("truth/image.txt", "pictures/image.png", "parts/part-0.parquet", "notes/a.xml"):
        os.mkfifo(tmp_path / pipe)
    return tmp_path


def run_germane(words: str, folder: Path, before: str = "") -> str:
    """Run a command for at most two minutes; return what it says."""
    line = f"{before} {sys.executable} -m germane {words}"
    done = subprocess.run(
        line, shell=True, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("side", ["evaluate qrels.txt -", "evaluate - run.txt"])
@pytest.mark.parametrize("kind", ENDLESS)
def test_the_first_line_of_an_endless_pipe_is_looked_at_first(
    kind: str, side: str, files: Path
) -> None:
    assert "standard input:1: " in run_germane(side, files, f"{ENDLESS[kind]} |")


def test_a_pipe_with_an_end_is_read(files: Path) -> None:
    line = f"cat run.txt | {sys.executable} -m germane evaluate qrels.txt - -m RR"
    done = subprocess.run(
        line, shell=True, cwd=files, capture_output=True, text=True, timeout=60, check=True
    )
    assert "1.0000" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "evaluate qrels.txt /dev/zero",
        "evaluate /dev/zero run.txt",
        "evaluate qrels.txt run.txt --exclude /dev/zero",
        "evaluate qrels.txt run.txt --collapse /dev/zero",
        "evaluate qrels.txt run.txt --by /dev/zero",
        "explain qrels.txt run.txt --query q1 --items /dev/zero",
        "gate qrels.txt run.txt --baseline /dev/zero",
        "verify /dev/zero qrels.txt run.txt",
        "audit /dev/zero",
        "boxes truth found --input-format yolo",
        "boxes notes notes",
        "boxes found found --input-format yolo --images pictures",
        "boxes found found --input-format yolo --images /dev/zero",
        "boxes found found --input-format yolo --class-names /dev/zero",
        "evaluate qrels.txt parts",
    ],
)
def test_devices_and_pipes_in_folders_are_refused(words: str, files: Path) -> None:
    assert run_germane(words, files)


def test_nothing_is_asked_that_takes_for_ever() -> None:
    qrels, run = {"q": ["a"]}, {"q": ["b", "a"]}
    other = {"q": ["a", "b"]}
    with pytest.raises(germane.errors.InputError, match="resamples takes"):
        germane.compare(qrels, {"a": run, "b": other}, "RR", resamples=10**9)
    with pytest.raises(germane.errors.MeasureError, match="cutoffs up to 2,000"):
        germane.identify(lambda ranked: 1.0, measure="R@1000000000000", takes="grades")
    grades: Any = {"q": {f"d{i}": i / 7 for i in range(2000)}}
    with pytest.raises(germane.errors.InputError, match="different grades"):
        germane.compare_judges(grades, grades)
    with pytest.raises(germane.errors.InputError, match="up to 1,000 columns"):
        germane.audit({"ours": {f"c{i}": 1 for i in range(1001)}})


def test_kendall_tau_of_many_items_takes_n_log_n() -> None:
    """In reversed order of pairs: half of the neighbours are turned, and nothing else."""
    items = list(range(200_000))
    turned = [item ^ 1 for item in items]
    pairs = len(items) * (len(items) - 1) / 2
    assert germane.kendall_tau(items, turned) == pytest.approx(
        1 - 2 * (len(items) / 2) / pairs, abs=1e-15
    )


def test_a_program_that_prints_without_an_end_is_stopped(files: Path) -> None:
    said = run_germane("identify --command 'yes {qrels}{run}' -m AP", files)
    assert "printed more than 64 MB" in said


def test_an_archive_that_becomes_much_larger_is_refused(files: Path) -> None:
    """Of zeros, a hundred million numbers are some hundred KB."""
    import zipfile

    with (
        zipfile.ZipFile(files / "far.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("a.npy", "w", force_zip64=True) as member,
    ):
        member.write(b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, ")
        member.write(b"'shape': (40000000, 1), }".ljust(75) + b"\n")
        for _ in range(40):
            member.write(bytes(8_000_000))
    said = run_germane("evaluate qrels.txt run.txt -m ILD@1 --distance far.npz", files)
    assert "far.npz: the arrays expand to more than 1000 times the size" in said


def test_a_pipe_of_one_query_without_an_end(files: Path) -> None:
    """Its rows are wide, so that the limit in bytes is reached soon."""
    rows = """awk 'BEGIN { t = sprintf("%0900d", 0); while (1) print "q1 Q0 d" i++ " 1 1 " t }' |"""
    assert "the lines of one query exceed" in run_germane("evaluate qrels.txt -", files, rows)


@pytest.mark.parametrize("marks", ["judgments", "masks"])
def test_arrays_that_are_broadcast_are_not_multiplied_out(marks: str) -> None:
    """100 MB as arrays of their own; one row as they are."""
    code = f"""
        import numpy as np, germane, resource
        scores = np.broadcast_to(np.arange(10_000, dtype=np.float32), (10_000, 10_000))
        few = np.broadcast_to(np.arange(10_000) % 5_000 == 0, scores.shape)
        options = {{"exclude": few}} if {marks!r} == "masks" else {{}}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        germane.evaluate(few, scores[:, ::-1], "R@20", **options)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 50
