"""identify and assert_computes ask about what a user states, and survive functions that misbehave."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.cli import main
from germane.cli.arguments import read_fraction

OTHERWISE: dict[str, Any] = {
    "0": 0.0,
    "1": 1.0,
    "NaN": math.nan,
    "-1": -1.0,
    "None": None,
    "an error": ZeroDivisionError,
}
FITS = {"zero": {"0"}, "one": {"1"}, "nan": {"NaN"}, "skip": {"NaN"}, "error": {"an error"}}
"""Words of no_relevant, and what a function gives for a list without relevant items."""


def make_precision(value: Any) -> Callable[..., Any]:
    """Make a function that computes P@5, and something else where nothing is relevant."""

    def compute(relevant: list[str], ranked: list[str]) -> Any:
        if relevant:
            return len(set(relevant) & set(ranked[:5])) / 5
        if isinstance(value, type):
            raise value("nothing is relevant")
        return value

    return compute


@pytest.mark.parametrize("value", OTHERWISE)
@pytest.mark.parametrize("word", FITS)
def test_lists_with_nothing_relevant(word: str, value: str) -> None:
    function = make_precision(OTHERWISE[value])
    found = germane.identify(function, "P@5", takes="ids", no_relevant=word)  # type: ignore[arg-type]
    assert found.holds is (value in FITS[word])
    if not found.holds and value == next(iter(OTHERWISE)):
        with pytest.raises(germane.errors.DefinitionError):
            germane.assert_computes(function, "P@5", takes="ids", no_relevant=word)  # type: ignore[arg-type]


def test_what_nobody_states_may_be_anything() -> None:
    for value in (0.0, 1.0, math.nan, None, ZeroDivisionError):
        assert germane.assert_computes(make_precision(value), "P@5", takes="ids").holds


def make_function(measure: str, **conventions: Any) -> Callable[..., Any]:
    def compute(qrels: Any, run: Any) -> dict[Any, float]:
        result = germane.evaluate(qrels, run, measure, **conventions)[measure]
        return dict(zip(result.queries, result.values.tolist(), strict=True))

    return compute


WORDS = {
    "no_relevant": ("zero", "skip", "one", "error"),
    "missing": ("zero", "skip", "error"),
    "ties": ("trec", "ascending", "best", "worst", "expected"),
    "no_hit": ("zero", "one", "nan"),
    "all_relevant": ("answer", "zero", "nan"),
    "unknown": ("ignore", "zero", "error"),
    "empty": ("answer", "nan", "error"),
    "nonpositive": ("hit", "miss"),
    "scores": ("double", "single"),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("others", ["next", pytest.param("all", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("name", "word"),
    [
        pytest.param(name, word, marks=[pytest.mark.long] if place % 2 else [])
        for name, own in WORDS.items()
        for place, word in enumerate(own)
    ],
)
def test_a_function_of_one_convention_has_no_other(name: str, word: str, others: str) -> None:
    function = make_function("AP@10", **{name: word})
    words = WORDS[name][WORDS[name].index(word) :] + WORDS[name][: WORDS[name].index(word)]
    stated = {
        other: germane.identify(function, "AP@10", takes="dicts", **{name: other}).holds
        for other in (words if others == "all" else words[:2])
    }
    assert [other for other, holds in stated.items() if holds] == [word]


def test_a_convention_of_data_that_is_not_made() -> None:
    for name in ("own", "padding"):
        with pytest.raises(germane.errors.InputError, match=f"{name}=drop cannot be checked"):
            germane.identify(make_precision(0.0), "P@5", takes="ids", **{name: "drop"})  # type: ignore[arg-type]


class _Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def test_an_error_without_a_text() -> None:
    def compute(relevant: list[str], ranked: list[str]) -> float:
        raise _Hostile

    with pytest.raises(germane.errors.InputError, match="_Hostile"):
        germane.identify(compute, "P@5", takes="ids")
    with pytest.raises(germane.errors.InputError, match="<_Hostile>"):
        germane.identify(_Hostile(), "P@5", takes="ids")  # type: ignore[arg-type]


@pytest.mark.parametrize("rng", ["1", 1.5, True, -1, {}])
@pytest.mark.parametrize("verb", ["identify", "simulate", "compare"])
def test_what_is_no_seed(verb: str, rng: Any) -> None:
    run = {"q": {"a": 1.0}}
    calls: dict[str, Callable[[], object]] = {
        "identify": lambda: germane.identify(make_precision(0.0), "P@5", takes="ids", rng=rng),
        "simulate": lambda: germane.simulate("ties", rng=rng),
        "compare": lambda: germane.compare({"q": {"a": 1}}, {"x": run, "y": run}, "AP", rng=rng),
    }
    with pytest.raises(germane.errors.InputError, match="rng takes a seed"):
        calls[verb]()


@pytest.mark.parametrize(
    "text", ["import sys; sys.exit(0)", "raise SystemExit", "import sys; sys.exit('x')"]
)
def test_a_module_that_ends_the_process(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"{text}\n")
    done = subprocess.run(
        [sys.executable, "-m", "germane", "identify", "mine.py:f", "-m", "P@5", "--takes", "ids"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "mine.py cannot be imported: SystemExit" in done.stderr


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "x", "1_0", "١"])
def test_what_is_no_number_on_the_command_line(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (
        ["identify", "--command", "true {qrels} {run}", f"--time-limit={text}"],
        ["gate", "q", "r", "--baseline", "b", f"--max-drop={text}"],
        ["compare", "q", "r", "s", f"--confidence={text}"],
        ["evaluate", "q", "r", f"--min-score={text}"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert "takes a number" in capsys.readouterr().err
    assert read_fraction("0.5") == 0.5


def test_a_limit_below_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "--command", "true {qrels} {run}", "--time-limit", "-1"]) == 2
    assert "--time-limit takes seconds, above 0" in capsys.readouterr().err
