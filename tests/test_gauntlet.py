"""Hostile inputs: germane is never silently wrong, never cryptic, and says what it refuses.

The cases are in ``tests/gauntlet``, one module a kind of input.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import cli
from germane.errors import GermaneError, GermaneWarning

from gauntlet import arrays, files, frames, objects, parameters
from gauntlet.case import MEASURES, QRELS, RUN, Outcome
from gauntlet.files import FileCase

DIFFERENCES = {
    "grade 0.5": "grades may have decimals, which no reading of them truncates",
    "grade 1.9": "the same",
    "an infinite score": "-inf marks what is masked and inf an overflow: neither is a rank",
    "relevant items as lists": "{query: relevant items} is a documented form of qrels",
    "other names of columns": "qid and docno are among the documented names",
    "every judgment of a query -1": "counted as 0, as one expects, and a warning says so",
    "every judgment of a query -2": "the same",
    "a query of grades -2": "the same",
    "a query of grades -9999999": "the same",
    "a hole of NULs": "it begins in the third line, which is the one named",
    "more relevant lists than ranked ones": "lists with ids: one is missing, which is told; rows are refused",
    "tied": "equal scores in arrays, which have no ids, stand in the order of the columns",
    "signed zeros": "the same",
    "halves that become equal": "the same",
}
"""Where a stricter or a more silent tool is thinkable, and why germane does as it does."""

Got = tuple[str, dict[str, float], str]  # the outcome's kind, the numbers, the message


def check(got: Got, right: Outcome) -> None:
    kind, numbers, message = got
    assert kind == right.kind, got
    assert numbers == pytest.approx(dict(right.numbers), rel=1e-12, abs=1e-15)
    for word in right.words:
        assert word in message, f"{word!r} is not in: {message}"


def in_python(qrels: Any, run: Any, measures: Any, **policy: Any) -> Got:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = germane.evaluate(qrels, run, measures, **policy)
        except GermaneError as error:
            return "error", {}, str(error)
    assert all(issubclass(one.category, GermaneWarning) for one in told)
    means = {str(measure): result[measure].mean for measure in result.measures}
    return ("warning" if told else "value"), means, " ".join(str(one.message) for one in told)


def on_command_line(*arguments: str) -> Got:
    """What ``germane evaluate`` prints, its exit status and standard error as an outcome."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(["evaluate", *arguments, "--format", "json"])
        except SystemExit as wrong:
            status = int(str(wrong.code))
    message = err.getvalue()
    assert message.count("\n") <= 1, "one line"
    if status:
        assert (status, out.getvalue()) == (2, "")
        return "error", {}, message
    (run,) = json.loads(out.getvalue())["runs"]
    means = {one["measure"]: one["mean"] for one in run["measures"]}
    return ("warning" if message else "value"), means, message


# ------------------------------------------------------------------------------------------ files


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("name", files.CASES)
def test_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = files.CASES[name]
    qrels, run = written(case, tmp_path)
    if case.way == "closed":
        check_closed(qrels, run)
        return
    with reached(case, qrels, run, monkeypatch) as paths:
        check_file(case, on_command_line(*paths, "-m", MEASURES))
    with reached(case, qrels, run, monkeypatch) as paths:
        check_file(case, in_python(*paths, MEASURES))


def check_file(case: FileCase, got: Got) -> None:
    check(got, case.outcome)
    if got[0] == "error":
        where = case.blamed if case.outcome.line is None else f"{case.blamed}:{case.outcome.line}:"
        assert where in got[2].replace(case.suffixes[1], ""), f"{where!r} is not in: {got[2]}"


def written(case: FileCase, folder: Path) -> tuple[Path, Path]:
    """The paths of qrels and run."""
    paths = folder / f"qrels{case.suffixes[0]}", folder / f"run{case.suffixes[1]}"
    for path, data in zip(paths, (case.qrels, case.run), strict=True):
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    run = paths[1]
    match case.way:
        case "absent":
            run.unlink()
        case "qrels-absent":
            paths[0].unlink()
        case "folder":
            run.unlink()
            run.mkdir()
        case "loop":
            run.unlink()
            run.symlink_to("run")
        case "null":
            return paths[0], Path("/dev/null")
    return paths


@contextlib.contextmanager
def reached(
    case: FileCase, qrels: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    """What is given as qrels and run, in the case's way."""
    paths = str(qrels), str(run)
    with monkeypatch.context() as patch:
        if case.way in ("pipe", "qrels-pipe"):
            which = ("qrels-pipe", "pipe").index(case.way)
            pipe = piped(Path(paths[which]))
            yield (pipe, paths[1]) if which == 0 else (paths[0], pipe)
        elif case.way == "stdin":
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(run.read_bytes())))
            yield paths[0], "-"
        elif case.way == "forbidden":
            run.chmod(0)
            yield paths
        else:
            yield paths


def piped(path: Path) -> str:
    """A pipe that a thread writes the file to."""
    pipe = path.with_name(f"{path.name}-pipe")
    if not pipe.exists():
        os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True).start()
    return str(pipe)


def check_closed(qrels: Path, run: Path) -> None:
    """Nobody reads what is printed: no traceback, and the status of what SIGPIPE ends."""
    command = [sys.executable, "-m", "germane", "evaluate", str(qrels), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 128 + signal.SIGPIPE


# ----------------------------------------------------------------------------- parameters, objects


@pytest.mark.parametrize("name", parameters.CASES)
def test_parameter(name: str, tmp_path: Path) -> None:
    case = parameters.CASES[name]
    check(in_python(QRELS, RUN, case.measures, **case.policy), case.outcome)
    if isinstance(case.measures, str):
        paths = map(str, written(files.CASES["clean"], tmp_path))
        policy = [word for key, value in case.policy.items() for word in (f"--{key}", str(value))]
        check(on_command_line(*paths, "-m", case.measures, *policy), case.outcome)


@pytest.mark.parametrize("written", ["0 \uff11", "\u0661 0", "1_0 1", "0 0x1", "1 nan", "0 1,5x"])
def test_grades_typed_at_a_prompt(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["score", written]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    if "," in written:  # two signs between grades, or a comma within one
        assert "is not a list: the same sign separates" in err
        return
    assert "the list, rank " in err
    assert "a relevance grade must be a finite number" in err


@pytest.mark.parametrize("name", objects.CASES)
def test_object(name: str) -> None:
    case = objects.CASES[name]
    if case.before:
        germane.evaluate({case.before: {"d": 1}}, {case.before: {"d": 1.0}})
    check(in_python(case.qrels, case.run, case.measures), case.outcome)


def test_scores_that_are_tensors() -> None:
    torch = pytest.importorskip("torch")
    run = {q: {item: torch.tensor(s) for item, s in items.items()} for q, items in RUN.items()}
    assert in_python(QRELS, run, MEASURES) == in_python(QRELS, RUN, MEASURES)


def test_tensors_of_scores() -> None:
    """Those whose gradient is wanted are read too; in bfloat16, 256 and 257 are one score."""
    torch = pytest.importorskip("torch")
    grades = torch.tensor([arrays.GRADES])
    wanted = torch.tensor([arrays.SCORES], requires_grad=True)
    check(in_python(grades, wanted, "AP nDCG"), arrays.ranked())
    rounded = torch.tensor([[256.0, 257.0, 254.0, 252.0, 250.0, 248.0]], dtype=torch.bfloat16)
    check(in_python(grades, rounded, "AP nDCG"), arrays.ranked(rounded[0].tolist()))


def test_no_batch_before_the_result() -> None:
    with pytest.raises(germane.errors.EmptyError, match="no batch yet"):
        germane.Evaluator(QRELS, MEASURES).result()


@pytest.mark.parametrize("name", frames.CASES)
def test_frame(name: str) -> None:
    case = frames.CASES[name]
    qrels, run = frames.frames()
    check(in_python(case.qrels(qrels), case.run(run), case.measures), case.outcome)


@pytest.mark.parametrize("name", arrays.CASES)
def test_array(name: str) -> None:
    case = arrays.CASES[name]
    check(in_python(case.grades, case.scores, case.measures, **case.more), case.outcome)


def test_differences_are_cases() -> None:
    every: Mapping[str, Any] = {**files.CASES, **objects.CASES, **frames.CASES, **arrays.CASES}
    assert DIFFERENCES.keys() <= every.keys()
