"""The GitHub Action: its steps run with bash, and no input becomes a command."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples/digits"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
INSTALL, GATE = (step for step in STEPS if "run" in step)
HOSTILE = "a b'\"`touch pwned`$(touch pwned);touch pwned &#|\\"


def run_step(
    step: dict[str, Any], folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: a file, in a bash that ends at the first error."""
    assert set(variables) >= set(step["env"]), "each variable has a value"
    script = folder / "step.sh"
    script.write_text(step["run"], "utf-8")
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(
        command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False
    )


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with the example data in files of difficult names, and germane beside it."""
    work = tmp_path / "my work"
    work.mkdir()
    for name in ("qrels.txt", "pixels.run", "lda.run"):
        shutil.copy(DIGITS / name, work / f"{HOSTILE} {name}")
    (work / "germane.py").write_text("raise SystemExit('the checkout is not on the path')")
    start = f'#!/bin/sh\nexec "{sys.executable}" '
    call = "import sys, germane_command; sys.exit(germane_command.main())"
    program(tmp_path / "a bin/python", f'{start}"$@"\n')
    program(tmp_path / "a bin/germane", f'{start}-P -c "{call}" "$@"\n')
    return work


def gate(folder: Path, run: str, baseline: str, **inputs: str) -> tuple[int, str, str]:
    """The exit status, the output and the summary of the step that gates."""
    summary = folder.parent / "summary.md"
    variables = {
        "BIN": str(folder.parent / "a bin"), "QRELS": f"{HOSTILE} qrels.txt",
        "RUN": run and f"{HOSTILE} {run}", "BASELINE": baseline and f"{HOSTILE} {baseline}",
        "MEASURES": "AP AP@10", "OPTIONS": "", "FLOOR": "", "KIND": "lists", **inputs,
    }  # fmt: skip
    done = run_step(GATE, folder, GITHUB_STEP_SUMMARY=str(summary), **variables)
    assert not (folder / "pwned").exists(), "an input was a command"
    return (
        done.returncode,
        done.stdout + done.stderr,
        summary.read_text() if summary.exists() else "",
    )


def test_no_input_is_pasted_into_a_script() -> None:
    for step in (INSTALL, GATE):
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
    given = dict(
        re.findall(r"(\w+)=\$\{\{ inputs\.(\w+) \}\}", " ".join(map("=".join, GATE["env"].items())))
    )
    assert given == {name.upper(): name for name in ACTION["inputs"]}
    assert list(ACTION["inputs"]) == [
        "qrels", "run", "baseline", "floor", "kind", "measures", "options",
    ]  # fmt: skip


def test_each_input_is_described() -> None:
    for name, said in ACTION["inputs"].items():
        assert said["description"].endswith("."), name
        assert said.get("required") or "default" in said, name


def test_a_run_that_fell_fails(folder: Path) -> None:
    status, output, summary = gate(folder, "pixels.run", "lda.run", OPTIONS="--max-drop 0.01")
    assert status == 1
    assert "::error title=germane gate::AP fell by 0.099, where 0.01 is allowed" in output
    assert summary.startswith("### germane gate: the run fell behind its baseline\n")
    assert "| AP | 0.5346 | 0.4353 | -0.0993 |" in summary


def test_a_run_that_did_not_fall_passes(folder: Path) -> None:
    status, _, summary = gate(folder, "lda.run", "pixels.run", OPTIONS="--max-drop 0.02")
    assert status == 0
    assert summary.startswith("### germane gate: the run passed\n")


def test_a_floor_needs_no_baseline(folder: Path) -> None:
    status, output, summary = gate(folder, "lda.run", "", MEASURES="", FLOOR="AP>=.5 RR>=.99")
    assert status == 1
    assert "::error title=germane gate::RR is 0.9" in output
    assert summary.startswith("### germane gate: the run is below a floor\n")


def test_boxes_have_a_gate(folder: Path) -> None:
    for name, file in (("qrels.txt", "truth.json"), ("found.json", "detections.json")):
        shutil.copy(ROOT / "examples/boxes" / file, folder / f"{HOSTILE} {name}")
    floors = {"MEASURES": "", "KIND": "boxes", "FLOOR": "AP50>=.7"}
    status, output, _ = gate(folder, "found.json", "", **floors, OPTIONS="--input-format coco")
    assert (status, "passed" in output) == (0, True), output


def test_options_are_words_with_quotes_as_in_a_shell(folder: Path) -> None:
    options = "--max-drop '0.2'\n--output \"a 'file' of $(touch pwned).txt\""
    assert gate(folder, "pixels.run", "lda.run", OPTIONS=options)[0] == 0
    assert (folder / "a 'file' of $(touch pwned).txt").read_text("utf-8").startswith("measure")


def test_a_word_may_have_lines(folder: Path) -> None:
    options = "--max-drop 0.2 --output 'two\nlines.txt'"
    assert gate(folder, "pixels.run", "lda.run", OPTIONS=options)[0] == 0
    assert (folder / "two\nlines.txt").read_text("utf-8").startswith("measure")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"OPTIONS": "--max-drop '0.2"}, "no list of words: a quote is not closed."),
        ({"OPTIONS": '--max-drop "0.2'}, "no list of words: a quote is not closed."),
        ({"OPTIONS": "--max-drop 0.2 \\"}, "no list of words: nothing follows a backslash."),
        ({"OPTIONS": "--max-drop ''"}, "--max-drop"),
        ({"OPTIONS": HOSTILE + "'"}, ""),
        ({"OPTIONS": "; touch pwned"}, "unrecognized arguments"),
        ({"MEASURES": HOSTILE}, "unknown measure 'a'"),
        ({"MEASURES": "--help"}, "--help"),
        ({"QRELS": HOSTILE}, "pwned"),
        ({"QRELS": "--version"}, "--version"),
        ({"QRELS": ""}, "The input 'qrels' is missing."),
        ({"RUN": ""}, "The input 'run' is missing."),
        ({"BASELINE": ""}, "The input 'baseline' is missing, or 'floor'."),
        ({"KIND": "box"}, "The input 'kind' is lists or boxes."),
        ({"FLOOR": HOSTILE}, "a floor is a measure"),
    ],
)
def test_a_wrong_input_fails_and_runs_nothing(
    folder: Path, inputs: dict[str, str], message: str
) -> None:
    status, output, summary = gate(folder, "lda.run", "lda.run", **inputs)
    assert status != 0
    assert message in output
    assert not summary


def test_germane_is_installed_from_the_action_itself(tmp_path: Path) -> None:
    """Python is a stand-in that makes the folder and notes what pip is asked to install."""
    python, work = tmp_path / "the python", tmp_path / "work"
    work.mkdir()
    noted = '#!/bin/sh\nprintf "%s\\\\n" "$@" > "$NOTED"\n'
    program(
        python,
        '#!/bin/sh\n[ "$*" = "-I -m venv $4" ] || exit 9\nmkdir -p "$4/bin"\n'
        f"printf '%s' '{noted}' > \"$4/bin/python\"\nchmod +x \"$4/bin/python\"\n",
    )
    done = run_step(
        INSTALL, work, PYTHON=str(python), SOURCE="/an action's place", RUNNER_TEMP=str(tmp_path / "a temp"),
        GITHUB_OUTPUT=str(tmp_path / "output"), NOTED=str(tmp_path / "noted"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == f"bin={tmp_path}/a temp/bin\n".replace(
        "temp/", "temp/germane/"
    )
    assert (tmp_path / "noted").read_text().splitlines()[-1] == "/an action's place[frames]"


def test_the_action_fits_the_documentation() -> None:
    """The workflow in docs/ci.md gives inputs that exist, and all that are required."""
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    workflows = [
        yaml.safe_load(block)
        for block in re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    ]
    uses = [
        step
        for workflow in workflows
        for job in workflow.get("jobs", {}).values()
        for step in job["steps"]
        if "/germane@" in step.get("uses", "")
    ]
    assert uses
    required = {name for name, said in ACTION["inputs"].items() if said.get("required")}
    for step in uses:
        assert required <= set(step["with"]) <= set(ACTION["inputs"])
