"""Transcripts of everything germane prints: outputs, help and every error message.

A file ``tests/gold/*.txt`` is a transcript. A line ``$ germane …`` runs the command line, any other
``$ …`` line runs in a shell, ``>>> …`` evaluates Python; what follows is what came out, standard
error marked ``stderr:``, an exit status other than 0 at the end. Add a case by adding its line.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import germane
from germane import cli

GOLD = Path(__file__).parent / "gold"
ACTUAL = GOLD / "actual"
TRANSCRIPTS = sorted(GOLD.glob("*.txt"))
ACCEPT = "GERMANE_ACCEPT_GOLD"
FIXED = {"COLUMNS": "100", "LC_ALL": "C.UTF-8"}


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    examples = Path(pytestconfig.rootpath) / "examples"
    (tmp_path / "examples").symlink_to(examples)
    monkeypatch.chdir(tmp_path)
    for name, value in FIXED.items():
        monkeypatch.setenv(name, value)
    expected = path.read_text("utf-8")
    actual = replayed(expected)
    if _comparable(path, actual) == _comparable(path, expected):
        return
    if os.environ.get(ACCEPT):
        path.write_text(actual, "utf-8")
        return
    ACTUAL.mkdir(exist_ok=True)
    (ACTUAL / path.name).write_text(actual, "utf-8")
    pytest.fail(
        f"{path.relative_to(GOLD.parent.parent)} is not what germane prints now:\n\n"
        f"{_difference(expected, actual)}\n\n"
        f"The whole of it is in {(ACTUAL / path.name).relative_to(GOLD.parent.parent)}. "
        "If it is right, accept it with: make gold"
    )


def test_there_are_transcripts() -> None:
    assert {"formats", "help", "measures", "score", "python"} <= {p.stem for p in TRANSCRIPTS}
    assert len([p for p in TRANSCRIPTS if p.stem.startswith("errors")]) >= 5


def test_every_error_is_shown() -> None:
    """Each public class of error has at least one message in the transcripts."""
    text = "".join(path.read_text("utf-8") for path in TRANSCRIPTS)
    for error in filter(_is_public, _subclasses(germane.GermaneError)):
        assert f"\n{error.__name__}: " in text, f"no transcript shows a {error.__name__}"


def _is_public(error: type) -> bool:
    return error.__module__ == "germane.errors"


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_no_traceback_and_no_empty_answer(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "Traceback" not in text
    for command, answer in _answers(text):
        if command.startswith(("$ germane", ">>> ")) and " = " not in command:
            assert answer.strip() or " -o " in command, f"{command} prints nothing"


@pytest.mark.parametrize(
    "path", [p for p in TRANSCRIPTS if p.stem.startswith("errors")], ids=lambda path: path.stem
)
def test_an_error_is_one_line(path: Path) -> None:
    for command, answer in _answers(path.read_text("utf-8")):
        if command.startswith("$ germane") and "usage:" not in answer:
            lines = answer.strip().splitlines()
            assert len(lines) == 2, (command, lines)
            assert lines[0].startswith("stderr: germane"), command
            assert lines[1] == "[exit 2]", command
        if command.startswith(">>> ") and " = " not in command:
            assert len(answer.strip().splitlines()) == 1, command


# --- Replaying -------------------------------------------------------------------------------------


def replayed(transcript: str) -> str:
    """The transcript with every answer as it is now."""
    out = ""
    names: dict[str, object] = {"germane": germane, **vars(germane)}
    for command, _ in _answers(transcript):
        if command.startswith("# ") and out:
            out = out.rstrip("\n") + "\n\n"
        answer = _answer(command, names)
        out += f"{command}\n{answer}" + ("\n" if answer else "")
    return out.rstrip("\n") + "\n"


def _answers(transcript: str) -> Iterator[tuple[str, str]]:
    """Each command, comment or blank line with what the transcript says it answers."""
    command, answer = None, ""
    for line in transcript.splitlines():
        if line.startswith(("$ ", ">>> ", "# ")):
            if command is not None:
                yield command, answer
            command, answer = line, ""
        else:
            answer += line + "\n"
    if command is not None:
        yield command, answer


def _answer(command: str, names: dict[str, object]) -> str:
    if command.startswith("# "):
        return ""
    if command.startswith(">>> "):
        answer = _python(command[4:], names)
    elif command.startswith("$ germane "):
        answer = _germane(shlex.split(command[10:]))
    else:
        answer = _shell(command[2:])
    answer = _scrubbed(answer)
    for line in answer.splitlines():
        assert not line.startswith(("$ ", ">>> ", "# ")), line
    return answer.strip("\n") + "\n" if answer.strip() else ""


def _python(source: str, names: dict[str, object]) -> str:
    try:
        code = compile(source, "transcript", "single")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, names)
    except germane.GermaneError as error:
        return f"{type(error).__name__}: {error}\n"
    except KeyError as error:
        return f"{type(error).__name__}: {error}\n"
    except Exception:
        return traceback.format_exc()
    return out.getvalue()


def _germane(arguments: list[str]) -> str:
    """Run the command line in this process; the last two arguments may be ``< FILE``."""
    given = b""
    if len(arguments) > 1 and arguments[-2] == "<":
        given = Path(arguments[-1]).read_bytes()
        arguments = arguments[:-2]
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    sys.stdout, sys.stderr = out, err
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = end.code
    except Exception:
        status = traceback.format_exc()
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    return _text(out) + _marked(_text(err)) + (f"[exit {status}]\n" if status else "")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8").replace("\r\n", "\n")  # type: ignore[attr-defined]


def _marked(text: str) -> str:
    return "".join(f"stderr: {line}\n" for line in text.splitlines())


def _shell(command: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    return done.stdout + _marked(done.stderr)


def _scrubbed(text: str) -> str:
    text = text.replace(str(Path.cwd()) + os.sep, "").replace(germane.__version__, "VERSION")
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def _comparable(path: Path, text: str) -> str:
    """Help is laid out a little differently by each Python: there only the words count."""
    if "usage:" not in text:
        return text
    text = re.sub(r"(-\w) (\S+), (--[\w-]+) \2(?=\s)", r"\1, \3 \2", text)
    text = re.sub(r"\(choose from [^)]*\)", lambda m: m[0].replace("'", ""), text)
    return " ".join(text.replace("stderr:", "").split())


def _difference(expected: str, actual: str) -> str:
    import difflib

    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), "expected", "actual", n=2, lineterm=""
    )
    return "\n".join(list(lines)[:60])


def _subclasses(error: type) -> Iterator[type]:
    for subclass in error.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
