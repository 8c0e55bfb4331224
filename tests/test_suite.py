"""conformance/suite.json: made by the oracle, equal to what germane, the explorer and other tools compute."""

import importlib.util
import json
import math
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import germane
from conformance_given import Given

import suite_adapter

HERE = Path(__file__).parent
SUITE = HERE.parent / "conformance"
in_repository = pytest.mark.skipif(not SUITE.exists(), reason="the suite is not in this sdist")
pytestmark = in_repository


def load(name: str) -> ModuleType:
    sys.path.insert(0, str(SUITE))
    try:
        spec = importlib.util.spec_from_file_location(f"suite_{name}", SUITE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(SUITE))


def read_suite() -> Any:
    return json.loads((SUITE / "suite.json").read_text("utf-8"))


def test_the_file_is_what_the_oracle_makes() -> None:
    made = load("generate").write_suite()
    assert made == (SUITE / "suite.json").read_text("utf-8"), "python conformance/generate.py"
    assert len(made.encode()) < 1_000_000


def test_the_file_has_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SUITE / "schema.json").read_text("utf-8"))
    suite = read_suite()
    jsonschema.validate(suite, schema)
    suite["cases"][0]["answers"][0]["values"]["AP"]["mean"]["fraction"] = "a third"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(suite, schema)


def test_fractions_are_the_doubles() -> None:
    for case in read_suite()["cases"]:
        for answer in case["answers"]:
            for value in answer["values"].values():
                for one in (value["mean"], *value["queries"].values()):
                    if "fraction" in one:
                        over, _, under = one["fraction"].partition("/")
                        exact = int(over) / int(under or 1)
                        assert one["double"] == pytest.approx(exact, rel=1e-15, abs=0)


def test_germane_has_every_value() -> None:
    asked, differences = load("run").run_suite(suite_adapter.compute)
    assert differences == []
    assert asked == 1766


def test_a_runner_sees_a_wrong_value_and_says_which_mistake_it_shows() -> None:
    def divide_by_found(definition: Any, *given: Any) -> dict[str, float] | None:
        name = "AP(norm=found)@5" if definition["name"] == "AP@5" else definition["name"]
        return suite_adapter.compute({**definition, "name": name}, *given)

    _, differences = load("run").run_suite(divide_by_found)
    assert any(
        line.startswith("two-of-twenty") and line.endswith("found, or k.") for line in differences
    )
    assert all(": AP@5 is " in line for line in differences)


def test_the_commands(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", SUITE / "run.py", "suite_adapter:compute"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "\nversion 1.1.0: 1766 values asked, 0 differ\n"
    assert done.returncode == 0
    if not shutil.which("node"):
        pytest.skip("there is no Node here")
    done = run_node(HERE / "suite_explorer.js")
    assert done.stdout == "version 1.1.0: 1153 values asked, 0 differ\n"
    assert done.returncode == 0
    wrong = tmp_path / "wrong.js"
    wrong.write_text(
        "exports.compute = (definition) => (definition.name === 'RR' ? { q: 2 } : null);\n"
    )
    done = run_node(wrong)
    assert 'three-of-ten {}: RR is {"q":2}, not {"q":0.3333333333333333}' in done.stdout
    assert done.returncode == 1


def run_node(adapter: Path) -> Any:
    return subprocess.run(
        ["node", SUITE / "run.js", adapter], capture_output=True, text=True, check=False
    )


def test_every_sentence_and_every_word_is_shown() -> None:
    suite = read_suite()
    names = [case["name"] for case in suite["cases"]]
    assert len(set(names)) == len(names) > 40
    used = {
        (key, word)
        for case in suite["cases"]
        for answer in case["answers"]
        for key, word in {**suite["defaults"], **answer["conventions"]}.items()
    }
    assert used == {(key, word) for key, words in suite["conventions"].items() for word in words}


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("tool", "least"), [("pytrec_eval", 300), ("ranx", 200)])
def test_another_tool_has_the_values(tool: str, least: int) -> None:
    """Where the tool shares a definition, and takes the case: no repeated items, whole grades."""
    pytest.importorskip(tool)
    import live_tools

    compared = 0
    for case in read_suite()["cases"]:
        wanted = case["answers"][0]["values"]
        if not can_be_given(case) or (tool == "ranx" and has_ties(case)):
            continue
        run = {query: dict(ranked) for query, ranked in case["run"].items()}
        qrels = {q: {d: int(g) for d, g in own.items()} for q, own in case["qrels"].items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = list(getattr(live_tools, tool)(Given(qrels, run)))
        for one in told:
            measure = str(germane.parse(f"{one.ask.dialect}:{one.ask.name}"))
            if measure not in wanted or "rel" in one.ask.choices:
                continue
            for query, value in wanted[measure]["queries"].items():
                got = one.answer["per_query"].get(query, math.nan)
                if not math.isnan(got) and any(grade > 0 for grade in qrels[query].values()):
                    assert got == pytest.approx(value["double"], abs=1e-6), (case["name"], measure)
                    compared += 1
    assert compared >= least


def can_be_given(case: Any) -> bool:
    repeated = any(len(dict(ranked)) < len(ranked) for ranked in case["run"].values())
    whole = all(float(g).is_integer() for own in case["qrels"].values() for g in own.values())
    single = case["name"] not in ("near-scores", "large-scores")  # pytrec_eval's scores are floats
    return whole and single and not repeated and all(case["run"].values())


def has_ties(case: Any) -> bool:
    return any(len({s for _, s in ranked}) < len(ranked) for ranked in case["run"].values())
