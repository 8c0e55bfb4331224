"""The public API: what is exported, documented, typed and imported."""

import doctest
import importlib
import inspect
import math
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import germane
import typing_api

from strategies import ALL

ROOT = Path(__file__).parents[1]
VERBS = [
    "animate",
    "assert_computes",
    "assert_no_regression",
    "audit",
    "check",
    "choose_judgments",
    "collapse",
    "compare",
    "compare_judges",
    "dialects",
    "evaluate",
    "evaluate_embeddings",
    "evaluate_judges",
    "evaluate_many",
    "explain",
    "explorer",
    "gate",
    "identify",
    "kendall_tau",
    "mean_pr_curve",
    "measure",
    "measures",
    "parse",
    "plan",
    "pr_curve",
    "rbo",
    "read_qrels",
    "read_results",
    "read_run",
    "reconcile",
    "reconcile_table",
    "report",
    "score",
    "simulate",
    "spread",
    "tau_ap",
    "trust",
    "trust_many",
    "verify",
]
TYPES = [
    "Audit",
    "BoundsOfRuns",
    "CatalogueResult",
    "Checkup",
    "Claim",
    "Comparison",
    "Contradiction",
    "CorrectedMean",
    "Counts",
    "Dialect",
    "Explanation",
    "Finding",
    "Gate",
    "Groups",
    "Identification",
    "Interval",
    "JudgeAgreement",
    "JudgedByMany",
    "MeanPRCurve",
    "Measure",
    "MeasureResult",
    "OwnMeasure",
    "PRCurve",
    "Pair",
    "Qrels",
    "QueryDifferences",
    "QueryPlan",
    "QueryValues",
    "Ranking",
    "Reconciliation",
    "Report",
    "Resolution",
    "Result",
    "Results",
    "Selection",
    "Signature",
    "Spread",
    "Stability",
    "Table",
    "TableReconciliation",
    "Trust",
    "Trusts",
    "Verification",
]
ARGUMENTS = [
    "Baseline",
    "Catalogue",
    "Choices",
    "Distance",
    "Group",
    "Ids",
    "InputFormat",
    "ItemGroups",
    "Judges",
    "Judgments",
    "LabelList",
    "Measures",
    "OtherChoices",
    "Pairs",
    "Places",
    "Progress",
    "PublishedTable",
    "Reader",
    "Record",
    "Reported",
    "Run",
    "Runs",
    "Seed",
    "Severity",
    "Sign",
    "Source",
    "Texts",
    "Values",
    "Vectors",
    "Weights",
]
MADE = ["Evaluator", "Labels", "Policy"]
"""What a person makes."""

ERRORS = [
    "NotFoundError",
    "CoverageError",
    "DefinitionError",
    "DuplicateError",
    "EmptyError",
    "FormatError",
    "GradeError",
    "InputError",
    "MeasureError",
    "PolicyError",
    "RegressionError",
    "ScoreError",
]
BOX_VERBS = [
    "assert_no_regression",
    "check",
    "compare",
    "confusion",
    "curve",
    "dialects",
    "evaluate",
    "evaluate_many",
    "explain",
    "gate",
    "reconcile",
    "reconcile_table",
    "report",
    "spread",
]
BOX_TYPES = [
    "Confusion",
    "Curves",
    "Explanation",
    "Groups",
    "Reconciliation",
    "Result",
    "Results",
    "Spread",
]
MEASURES = [row.name for row in ALL]
MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(germane.__path__, "germane.")
    if not found.name.endswith("__main__")
]


def test_the_exports_are_these() -> None:
    assert germane.__all__ == [
        *VERBS, "boxes", *MADE, "GermaneError", "GermaneWarning", "__version__"
    ]  # fmt: skip
    assert len(dir(germane)) <= 46
    for name in germane.__all__:
        assert getattr(germane, name) is not None
    assert germane.types.__all__ == sorted([*TYPES, *ARGUMENTS])


def test_measures_are_imported_by_name() -> None:
    """They are listed by ``measures``, not by ``dir``."""
    for measure in germane.measures():
        assert getattr(germane, measure.name) == measure
        assert measure.name not in dir(germane)


@pytest.mark.parametrize("name", [*TYPES, *ERRORS])
def test_a_type_or_an_error_is_in_its_own_module(name: str) -> None:
    module = "types" if name in TYPES else "errors"
    with pytest.raises(AttributeError, match=rf"it is germane\.{module}\.{name}$"):
        getattr(germane, name)


def test_boxes_have_verbs_and_types_of_their_own() -> None:
    assert germane.boxes.__all__ == [*BOX_VERBS, *BOX_TYPES]
    assert dir(germane.boxes) == sorted(germane.boxes.__all__)
    for name in germane.boxes.__all__:
        assert getattr(germane.boxes, name).__name__ == name
    with pytest.raises(AttributeError, match=r"module 'germane\.boxes' has no attribute 'explian'"):
        _ = germane.boxes.explian


def test_signatures_of_boxes_name_every_option() -> None:
    """The keyword arguments of the verbs are those that reading and conventions know."""
    options = importlib.import_module("germane.boxes.conventions")
    conventions = importlib.import_module("germane.boxes.conventions").DEFAULTS
    reading = importlib.import_module("germane.boxes.conventions").READING
    assert set(options.Options.__annotations__) == {*reading, *conventions}
    for name in BOX_VERBS:
        for one in inspect.signature(getattr(germane.boxes, name)).parameters.values():
            assert one.annotation is not inspect.Parameter.empty
            assert one.kind is not inspect.Parameter.VAR_KEYWORD
            assert str(one.annotation) not in ("typing.Any", "Any"), f"{name}: {one}"


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_exported_under_its_name(name: str) -> None:
    assert getattr(germane, name) == germane.types.Measure(name) == germane.parse(name)


def test_measures_lists_the_table() -> None:
    assert germane.measures() == tuple(germane.types.Measure(row.name) for row in ALL)
    assert [measure.name for measure in germane.measures()] == MEASURES


def test_the_package_is_a_plain_module() -> None:
    """As cloudpickle wants it, with which joblib, Dask and Spark send functions that mention it."""
    assert type(germane) is ModuleType


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_a_germane_error_and_a_value_error(name: str) -> None:
    error = getattr(germane.errors, name)
    assert issubclass(error, germane.GermaneError)
    assert issubclass(error, ValueError)
    assert str(error("what 'is' wrong")) == "what 'is' wrong"
    tree = sys.modules["germane.errors"].__doc__
    assert tree is not None
    assert name in tree


def test_results_are_mappings() -> None:
    """What a Mapping promises holds, also for keys that are not there."""
    results = germane.evaluate_many({"q": {"d": 1}}, {"a": {"q": ["d"]}}, "AP P@5")
    result = results["a"]
    assert list(result) == ["AP", "P@5"]
    assert dict(result) == dict(result.items())
    assert result.get("P@10") is None
    assert result.get(germane.AP) is result["MAP"]
    assert "P@10" not in result
    assert "nonsense" not in result
    assert germane.AP in result
    assert list(results) == ["a"]
    assert results.get("b") is None
    with pytest.raises(KeyError):
        results["b"]
    with pytest.raises(germane.GermaneError):
        results["b"]


# --- Import ----------------------------------------------------------------------------------------


def modules_after(code: str) -> set[str]:
    command = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import germane",
        "import germane; germane.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'AP nDCG')",
        "import germane; str(germane.evaluate({'q': ['d']}, {'q': ['d']}))",
        "import germane; germane.score([0, 1])",
        "from germane.cli import main; main(['score', '0 1']); main(['measures'])",
    ],
)
def test_arrow_is_imported_only_for_files(code: str) -> None:
    loaded = modules_after(code)
    assert "numpy" in loaded
    rare = "germane.readers.options.candidates"
    for heavy in ("pyarrow", "pandas", "polars", "scipy", "matplotlib", rare):
        assert heavy not in loaded


def test_arrow_is_seen_where_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query,item,relevance\nq,d,1\n")
    read = f"import germane; germane.read_qrels({str(tmp_path / 'qrels.csv')!r})"
    assert "pyarrow" in modules_after(read)
    assert "pyarrow" not in modules_after(
        "import germane; germane.evaluate('examples/digits/qrels.txt', 'examples/digits/lda.run')"
    )


def test_import_loads_no_command_line() -> None:
    assert not {"argparse", "germane.cli"} & modules_after("import germane")


def test_import_loads_what_evaluate_needs() -> None:
    """Of the package and of NumPy."""
    loaded = modules_after("import germane; germane.evaluate({'q': ['d']}, {'q': ['d']}, 'AP')")
    later = {"animation", "chunks", "curve", "derivation", "groups", "simulation", "tables"}
    assert not {f"germane.{name}" for name in later} & loaded
    assert "numpy.random" not in loaded - modules_after("import numpy")


def test_no_export_is_a_module() -> None:
    """Also where every module of the package has been imported."""
    imports = [
        f"import {module.__name__}" for module in MODULES if module.__name__ != "germane.spark"
    ]
    every = "[(of, name) for of in (germane, germane.types, germane.boxes) for name in of.__all__]"
    looks = f"print(*(name for of, name in {every} if type(getattr(of, name)) is type(germane)))"
    found = modules_after("; ".join([*imports, looks]))
    assert {*germane.__all__, *germane.boxes.__all__} & found == {"boxes"}


def test_what_is_imported_later_is_listed() -> None:
    assert dir(germane) == sorted(germane.__all__)
    with pytest.raises(AttributeError, match="module 'germane' has no attribute 'explian'"):
        _ = germane.explian  # type: ignore[attr-defined]


# --- Docstrings ------------------------------------------------------------------------------------


def public(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Functions, classes, methods and properties without a leading underscore."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            yield f"{module.__name__}.{name}", value


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_module_says_what_it_is(module: ModuleType) -> None:
    assert module.__doc__
    assert module.__doc__.strip().split("\n\n")[0].endswith((".", ":"))


EXPORTS = [
    *((germane, name) for name in (*VERBS, *MADE)),
    *((germane.types, name) for name in TYPES),
    *((germane.errors, name) for name in ("GermaneError", *ERRORS)),
    *((germane.boxes, name) for name in (*BOX_VERBS, *BOX_TYPES)),
]


@pytest.mark.parametrize(("of", "name"), [one for one in EXPORTS if one[0] is not germane.errors])
def test_every_export_has_a_runnable_example(of: ModuleType, name: str) -> None:
    exported = getattr(of, name)
    text = inspect.getdoc(exported)
    assert text, name
    if name != "Ranking":  # made by judging; a kernel's argument
        assert ">>> " in text, name


@pytest.mark.parametrize(("of", "name"), [one for one in EXPORTS if inspect.isclass(getattr(*one))])
def test_every_public_member_has_a_docstring(of: ModuleType, name: str) -> None:
    exported = getattr(of, name)
    for member, value in vars(exported).items():
        if member.startswith("_"):
            continue
        if inspect.isfunction(value) or hasattr(value, "fget") or hasattr(value, "func"):
            assert inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.parametrize("module", [germane, *MODULES], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = {"germane": germane, **{name: getattr(germane, name) for name in germane.__all__}}
    found = doctest.DocTestFinder().find(module, globs=dict(names))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failures: list[str] = []
    for example in found:
        runner.run(example, out=failures.append)
    assert not failures, "".join(failures)


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    count = sum(len(test.examples) for module in MODULES for test in finder.find(module))
    assert count > 25


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_the_example_of_every_measure(row: object) -> None:
    """Exactly as printed by ``germane measures NAME``: the example evaluates to True."""
    example = row.example  # type: ignore[attr-defined]
    assert f'"{row.name}' in example  # type: ignore[attr-defined]
    assert eval(example, {"score": germane.score, "log2": math.log2}) is True


# --- Types -----------------------------------------------------------------------------------------


def test_typed_code_runs() -> None:
    assert typing_api.one_run()["AP"].mean == (1 + 1 / 2) / 2
    both = typing_api.of_two(typing_api.QRELS, typing_api.RUN, typing_api.LISTS, ties="worst")
    assert [result["AP"].mean for result in both] == [(1 + 1 / 2) / 2] * 2
    assert typing_api.several_runs()["lists"]["P@1"].mean == 1 / 2
    assert typing_api.files(ROOT / "examples/digits").counts.judged == 200
    assert list(typing_api.other_data()) == [1, 1 / 2, 1, 1]
    assert len(typing_api.measures()) == len(ALL) + 2
    assert "Did you mean 'nDCG@10'?" in typing_api.handled()


def test_typed_code_passes_mypy_strict() -> None:
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "tests/typing_api.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(germane.__file__).parent / "py.typed").exists()
