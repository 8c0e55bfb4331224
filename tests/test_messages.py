"""Messages that say which argument is meant and what to do, through the public verbs alone."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import InputError, PolicyError

QRELS = {"q1": {"a": 1, "b": 0}}
RUN = {"q1": {"a": 0.9, "b": 0.4}}


# --- Arguments by another name ---------------------------------------------------------------------

VERBS = {
    "evaluate": lambda **given: germane.evaluate(QRELS, RUN, **given),
    "evaluate_many": lambda **given: germane.evaluate_many(QRELS, {"run": RUN}, **given),
    "compare": lambda **given: germane.compare(QRELS, {"one": RUN, "two": RUN}, **given),
    "explain": lambda **given: germane.explain(QRELS, RUN, "AP", query="q1", **given),
    "Evaluator": lambda **given: germane.Evaluator(QRELS, **given),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("k", 5, "A cutoff is part of a measure's name: measures='AP@5 nDCG@5'."),
        ("cutoff", 20, "A cutoff is part of a measure's name: measures='AP@20 nDCG@20'."),
        ("top_k", [3, 10], "A cutoff is part of a measure's name: measures='AP@3 nDCG@3'."),
        ("at_k", "ten", "A cutoff is part of a measure's name: measures='AP@10 nDCG@10'."),
        ("cutoffs", (), "A cutoff is part of a measure's name: measures='AP@10 nDCG@10'."),
        ("k", -1, "A cutoff is part of a measure's name: measures='AP@10 nDCG@10'."),
        (
            "metrics",
            ["map"],
            "The names of measures are the argument measures: measures='AP nDCG@10'.",
        ),
        (
            "metric",
            "map",
            "The names of measures are the argument measures: measures='AP nDCG@10'.",
        ),
        ("tie", "best", "Did you mean 'ties'?"),
        ("dialekt", "trec_eval-9", "Did you mean 'dialect'?"),
        ("qqqq", 1, ""),
    ],
)
def test_an_argument_that_does_not_exist(verb: str, name: str, value: Any, meant: str) -> None:
    with pytest.raises(PolicyError) as error:
        VERBS[verb](**{name: value})
    assert str(error.value) == f"there is no convention {name!r}. {meant}".rstrip()


# --- Progress --------------------------------------------------------------------------------------


def slowly(folder: Path, call: str) -> tuple[bytes, bytes]:
    """The outputs of a call that reads standard input, which takes its time."""
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    with subprocess.Popen(
        [sys.executable, "-c", f"import germane\n{call}"],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        for number in range(4):
            process.stdin.write(b"q1 Q0 x%d 1 0.5 a\n# %s\n" % (number, b"x" * (1 << 20)))
            process.stdin.flush()
            time.sleep(0.4)
        process.stdin.write(b"q1 Q0 a 1 0.1 a\n")
        process.stdin.close()
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdout.read(), process.stderr.read()


@pytest.mark.parametrize(
    "call",
    [
        "result = germane.evaluate('qrels.txt', '-', 'RR', progress=True)",
        "result = germane.evaluate_many('qrels.txt', {'r': '-'}, 'RR', progress=True)['r']",
        "run = germane.read_run('-', progress=True)\nresult = germane.evaluate('qrels.txt', run, 'RR')",
    ],
)
def test_progress_true_shows_a_line_and_wipes_it(tmp_path: Path, call: str) -> None:
    said = "import sys; print('done', file=sys.stderr); print(result['RR'].mean)"
    out, shown = slowly(tmp_path, f"{call}\n{said}")
    assert out == b"0.2\n"
    *states, end = shown.split(b"\r\x1b[K")
    assert end == b"done\n"
    assert any(state.startswith(b"reading standard input: ") for state in states), shown
    assert states[-1] != b"", "the line was there until it was wiped"


def test_progress_false_and_none_show_nothing(tmp_path: Path) -> None:
    for value in (None, False):
        call = f"print(germane.evaluate('qrels.txt', '-', 'RR', progress={value})['RR'].mean)"
        assert slowly(tmp_path, call) == (b"0.2\n", b"")


@pytest.mark.parametrize("given", ["yes", 1, [], {}])
def test_progress_that_cannot_be_called(given: Any) -> None:
    says = "^progress takes True, or a function that is called with a name, how much is done"
    for call in (
        lambda: germane.evaluate(QRELS, RUN, "AP", progress=given),
        lambda: germane.evaluate_many(QRELS, {"run": RUN}, "AP", progress=given),
        lambda: germane.compare(QRELS, {"one": RUN, "two": RUN}, "AP", progress=given),
        lambda: germane.check(QRELS, RUN, progress=given),
        lambda: germane.explain(QRELS, RUN, "AP", query="q1", progress=given),
        lambda: germane.spread(QRELS, RUN, "AP", progress=given),
        lambda: germane.reconcile(QRELS, RUN, reported=0.5, progress=given),
        lambda: germane.pr_curve(QRELS, RUN, query="q1", progress=given),
        lambda: germane.mean_pr_curve(QRELS, RUN, progress=given),
        lambda: germane.report(QRELS, {"run": RUN}, "AP", progress=given),
        lambda: germane.Evaluator(QRELS, "AP").update(RUN, progress=given),
    ):
        with pytest.raises(InputError, match=says):
            call()
