"""Write the pages of the reference that only the site has: ``make docs`` calls ``write_pages``.

Sphinx fills them from the docstrings. Each public object stands on the page of one topic.
"""

import inspect
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import generate_measures

import germane
import germane.plot
from germane.boxes import conventions
from germane.evaluation import choices
from germane.evaluation.choices import Given, list_names, make_signature, write_type

FOLDER = Path(__file__).parent / "reference"

TOPICS: dict[str, tuple[str, str, str]] = {  # page: title, guide, objects
    "evaluate": (
        "Evaluate", "usage",
        ("evaluate evaluate_many evaluate_embeddings score collapse read_qrels read_run read_results types.Result types.Results "
        "types.MeasureResult types.CatalogueResult types.BoundsOfRuns types.QueryValues types.Interval types.Counts types.Table types.Groups Evaluator "
        "Labels types.Qrels types.Ranking"),
    ),
    "conventions": ("Conventions", "conventions", "Policy"),
    "names": ("Names of measures", "measures", "measures parse types.Measure measure types.OwnMeasure"),
    "compare": (
        "Compare systems", "compare",
        "compare types.Comparison types.Pair types.QueryDifferences types.Stability kendall_tau tau_ap rbo",
    ),
    "signature": (
        "Signatures and records", "signature", "types.Signature verify types.Verification"
    ),
    "gate": ("Gate a build", "ci", "gate assert_no_regression types.Gate plan types.QueryPlan types.Resolution"),
    "explain": (
        "Explain a number", "which-ap",
        "explain types.Explanation animate simulate pr_curve types.PRCurve mean_pr_curve types.MeanPRCurve",
    ),
    "report": ("Reports", "report", "report explorer types.Report"),
    "reconcile": (
        "Reconcile, and dialects", "reconcile",
        "reconcile types.Reconciliation reconcile_table types.TableReconciliation audit types.Audit types.Contradiction types.Claim spread types.Spread dialects types.Dialect",
    ),
    "identify": ("Identify a function", "identify", "identify assert_computes types.Identification"),
    "check": ("Check data", "check", "check types.Checkup types.Finding"),
    "boxes": (
        "Boxes", "which-map",
        ("boxes.evaluate boxes.evaluate_many boxes.explain boxes.check boxes.compare boxes.gate boxes.assert_no_regression boxes.report "
        "boxes.reconcile boxes.reconcile_table boxes.spread boxes.confusion boxes.curve boxes.dialects boxes.Result boxes.Results boxes.Groups boxes.Confusion boxes.Curves boxes.Explanation "
        "boxes.Reconciliation boxes.Spread"),
    ),
    "judges": (
        "Judges", "judges",
        "trust trust_many types.Trust types.Trusts types.CorrectedMean choose_judgments types.Selection",
    ),
    "agreement": (
        "Agreement of judges", "judges", "compare_judges types.JudgeAgreement evaluate_judges types.JudgedByMany"
    ),
    "errors": (
        "Errors and warnings", "usage",
        ("errors.GermaneError errors.InputError errors.FormatError errors.DuplicateError errors.GradeError errors.ScoreError errors.EmptyError errors.CoverageError "
        "errors.MeasureError errors.PolicyError errors.NotFoundError errors.RegressionError errors.DefinitionError errors.GermaneWarning"),
    ),
}  # fmt: skip
MODULES = {  # page: title, guide, members
    "plot": ("germane.plot: pictures", "output", ", ".join(germane.plot.__all__)),
    "pytrec_eval": (
        "germane.pytrec_eval: the module pytrec_eval",
        "pytrec_eval",
        (
            "RelevanceEvaluator, parse_qrel, parse_run, compute_aggregated_measure, supported_measures, "
            "supported_nicknames"
        ),
    ),
    "sklearn": ("germane.sklearn: a scorer", "recipes", "scorer, Scorer"),
    "spark": ("germane.spark: many machines", "clusters", "evaluate, Evaluation"),
}
MADE_BY_A_PERSON = {"Evaluator", "Labels", "Measure", "Policy"}
"""Types that one calls; the others are what functions return."""


def write_pages() -> None:
    """Write all pages, and leave alone those that are as they were."""
    (FOLDER / "measures").mkdir(parents=True, exist_ok=True)
    pages = dict([*list_pages(), *generate_measures.list_pages()])
    for name, text in pages.items():
        path = FOLDER / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
    for path in FOLDER.rglob("*.md"):
        if str(path.relative_to(FOLDER).with_suffix("")) not in pages:
            path.unlink()


def list_pages() -> Iterator[tuple[str, str]]:
    """List the pages by name, with their text."""
    for name, (title, guide, objects) in TOPICS.items():
        found = "\n\n".join(map(write_directive, objects.split()))
        yield name, write_page(title, guide, ".. currentmodule:: germane\n\n" + found)
    yield "arguments", write_arguments()
    for name, (title, guide, members) in MODULES.items():
        written = f".. automodule:: germane.{name}\n   :members: {members}"
        yield name, write_page(title, guide, written)


def write_page(title: str, guide: str, directives: str) -> str:
    return f"# {title}\n\nThe guide: [](../{guide}.md).\n\n```{{eval-rst}}\n{directives}\n```\n"


def write_arguments() -> str:
    """Write what the arguments take for which Python has no type."""
    names = (*list_names(vars(choices)), *list_names(vars(conventions)))
    lines = [f"| `{one.name}` | {one.says} |" for one in names]
    return (
        "# Names in signatures\n\nThe guides: [](../sources.md), [](../arrays.md).\n\n"
        "| name | takes |\n|---|---|\n" + "\n".join(lines) + "\n\n" + HINTS
    )


HINTS = """\
For the annotations of functions of your own, `germane.types` has the names up to `Places`, and:

- `Measures` (the name of a measure, a measure, or several of them),
- `InputFormat` (the format of all files, or of each as in `{"run": "jsonl"}`; `None` recognizes it),
- `Progress` (a function that is told how much has been read),
- `Seed` (a whole number or a generator of NumPy),
- `Sign` (what the signature of an `Evaluator` covers: "qrels", or also every row of the "run"),
- `Reader` (of a CSV table: "program" or "spreadsheet"),
- `Severity` (of a finding: "serious", "doubtful" or "note").

`Choices` are the keyword arguments of `evaluate`, and `OtherChoices` are those of `explain`:

```python
from typing import Unpack

import germane
from germane.types import Choices, Judgments, Result, Run


def evaluate_top(qrels: Judgments, run: Run, **choices: Unpack[Choices]) -> Result:
    return germane.evaluate(qrels, run, "AP@10 nDCG@10", **choices)
```
"""


def write_directive(name: str) -> str:
    """Write the directive that Sphinx replaces by the object's docstring."""
    found = attrgetter(name)(germane)
    if inspect.isclass(found) and issubclass(found, Exception | Warning):
        return f".. autoexception:: germane.{name}"
    if inspect.isclass(found):
        return f".. autoclass:: germane.{name}\n   :members:\n   :inherited-members: tuple, dict, Mapping"
    return f".. autofunction:: germane.{name}"


# --- Signatures that a person can read -------------------------------------------------------------


def write_signature(found: Callable[..., Any]) -> tuple[str, str]:
    """Write the parameters and what is returned; choices stand as keyword arguments with their words."""
    signature = make_signature(found)  # which names all arguments of boxes already
    written, star = [], False
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.VAR_KEYWORD:
            written.append(f"**{one.name}")
            continue
        star |= one.kind is one.VAR_POSITIONAL
        if one.kind is one.KEYWORD_ONLY and not star:
            written.append("*")
            star = True
        name = "*" * (one.kind is one.VAR_POSITIONAL) + one.name
        default = None if one.default is one.empty else write_default(one.default)
        written.append(join(name, write_kind(one.annotation), default))
    returned = signature.return_annotation
    return f"({', '.join(written)})", "" if returned is signature.empty else write_kind(returned)


def join(name: str, kind: str, default: str | None) -> str:
    if default is None:
        return f"{name}: {kind}" if kind else name
    return f"{name}: {kind} = {default}" if kind else f"{name}={default}"


def write_kind(annotation: Any) -> str:
    """Write a type; of a convention its words, and "" for one that may be anything."""
    if annotation in (inspect.Parameter.empty, Any):
        return ""
    if isinstance(annotation, Given) and annotation.words:
        return write_words(annotation.words)
    return write_type(annotation)


def write_words(words: tuple[Any, ...]) -> str:
    return f"Literal[{', '.join(map(repr, words))}]" if words else ""


def write_default(default: Any) -> str:
    """Write a default as one would type it."""
    if isinstance(default, tuple) and len(default) > 3:
        return f"({default[0]!r}, ..., {default[-1]!r})"
    if isinstance(default, str | int | float | bool | tuple | None):
        return repr(default)
    return "..."
