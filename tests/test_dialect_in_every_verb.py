"""A dialect means the same in every verb, in Python and on the command line."""

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane.cli import main

QRELS = {f"q{i}": {"a": 1, "b": 0, "c": i % 3} for i in range(8)}
RUN = {f"q{i}": {"a": 0.5, "b": 0.75 * (i % 2), "c": 0.25, "d": 0.6} for i in range(8)}
OTHER = {query: {item: -score for item, score in scores.items()} for query, scores in RUN.items()}
NAME, OWN = "recip_rank", "RR"
TOOL: dict[str, Any] = {"dialect": "trec_eval-9"}
VECTORS, LABELS = np.eye(8)[:, :3] + 0.1, [0, 0, 1, 1, 2, 2, 0, 1]

VERBS: dict[str, Any] = {
    "evaluate": lambda: germane.evaluate(QRELS, RUN, NAME, **TOOL)[NAME].mean,
    "evaluate_many": lambda: germane.evaluate_many(QRELS, {"x": RUN}, NAME, **TOOL)["x"][NAME].mean,
    "check": lambda: germane.check(QRELS, RUN, NAME, **TOOL),
    "explain": lambda: germane.explain(QRELS, RUN, NAME, query="q0", **TOOL).readings[0].value,
    "score": lambda: germane.score([0, 1, 0], NAME, **TOOL),
    "mean_pr_curve": lambda: germane.mean_pr_curve(QRELS, RUN, **TOOL),
    "pr_curve": lambda: germane.pr_curve(QRELS, RUN, query="q0", **TOOL),
    "compare": lambda: germane.compare(QRELS, {"x": RUN, "y": OTHER}, NAME, **TOOL),
    "report": lambda: germane.report(QRELS, {"x": RUN, "y": OTHER}, NAME, **TOOL),
    "gate": lambda: germane.gate(QRELS, RUN, NAME, baseline=RUN, **TOOL),
    "assert_no_regression": lambda: germane.assert_no_regression(
        QRELS, RUN, NAME, baseline=RUN, **TOOL
    ),
    "choose_judgments": lambda: germane.choose_judgments(QRELS, {"x": RUN}, NAME, **TOOL),
    "plan": lambda: germane.plan(QRELS, RUN, NAME, **TOOL),
    "compare_judges": lambda: germane.compare_judges(QRELS, QRELS, **TOOL),
    "evaluate_judges": lambda: germane.evaluate_judges(RUN, {"x": QRELS, "y": QRELS}, NAME, **TOOL),
    "trust": lambda: germane.trust(RUN, people=QRELS, model=QRELS, measures=NAME, **TOOL),
    "trust_many": lambda: germane.trust_many(
        {"x": RUN, "y": OTHER}, people=QRELS, model=QRELS, measures=NAME, **TOOL
    ),
    "evaluate_embeddings": lambda: germane.evaluate_embeddings(
        VECTORS, VECTORS, "mAP", query_labels=LABELS, gallery_labels=LABELS, dialect="torchreid"
    ),
    "Evaluator": lambda: germane.Evaluator(QRELS, NAME, **TOOL),
}
TRIES_ALL: dict[str, Any] = {
    "reconcile": lambda: germane.reconcile(QRELS, RUN, measure=NAME, reported=0.5, **TOOL),
    "spread": lambda: germane.spread(QRELS, RUN, NAME, **TOOL),
    "reconcile_table": lambda: germane.reconcile_table(
        QRELS, {"x": RUN}, {"x": {NAME: 0.5}}, **TOOL
    ),
    "verify": lambda: germane.verify("record.json", QRELS, RUN, **TOOL),
}
MAKES_DATA = {"identify", "assert_computes"}
"""Functions that ask another function about data that they make, under conventions one by one."""


def test_every_verb_is_here() -> None:
    found = {
        name
        for name in germane.__all__
        if inspect.isfunction(getattr(germane, name))
        and "no_relevant" in inspect.signature(getattr(germane, name)).parameters
    }
    assert found | {"Evaluator", "score"} == {*VERBS, *TRIES_ALL, *MAKES_DATA}


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_a_dialect(verb: str) -> None:
    VERBS[verb]()
    if verb in germane.__all__:
        assert "dialect" in inspect.signature(getattr(germane, verb)).parameters


@pytest.mark.parametrize("verb", TRIES_ALL)
def test_a_verb_that_tries_all_dialects_says_so(verb: str) -> None:
    with pytest.raises(germane.GermaneError, match=r"takes no dialect=.*[Ll]eave it out"):
        TRIES_ALL[verb]()


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("dialect", germane.dialects())
def test_a_query_and_a_list_have_the_value_that_evaluate_gives(dialect: str) -> None:
    """Of every measure of every tool, in explain and in score, by the tool's name of it."""
    grades = [0, 1, 2, 0, 1]
    judged = {"list": dict(enumerate(grades))}
    run = {"list": list(range(5))}
    for name in germane.dialects()[dialect].names(3):
        try:
            [value] = germane.evaluate(judged, run, name, dialect=dialect)[name].per_query.values()
        except (germane.GermaneError, ValueError):
            continue
        mean = germane.evaluate(judged, run, name, dialect=dialect)[name].mean
        assert germane.score(grades, name, dialect=dialect) == pytest.approx(mean, nan_ok=True)
        try:
            told = germane.explain(grades, name, dialect=dialect).readings[0].value
        except germane.GermaneError:  # such as an order of ties in which no item has a rank
            continue
        assert told == pytest.approx(value, nan_ok=True), (name, told, value)


def test_a_result_knows_the_names_of_its_dialect() -> None:
    """precision of implicit is a recall: the name finds what was asked for by it."""
    result = germane.evaluate(QRELS, RUN, "precision@2", dialect="implicit")
    assert str(result["precision@2"].measure).startswith("R(")
    assert "precision@2" in result
    with pytest.raises(germane.errors.NotFoundError):
        result["P@5"]


def test_explain_refuses_measures_with_conventions_of_their_own() -> None:
    with pytest.raises(germane.errors.MeasureError, match="under different conventions"):
        germane.explain(QRELS, RUN, "map precision@3", query="q0", dialect="trectools")


@pytest.mark.parametrize(
    "verb",
    [
        "evaluate {q} {r} -m recip_rank",
        "explain {q} {r} --query q0 -m recip_rank",
        "explain '0 1 0' -m recip_rank",
        "score '0 1 0' -m recip_rank",
        "check {q} {r} -m recip_rank",
        "compare {q} {r} {o} -m recip_rank",
        "gate {q} {r} --baseline {r} -m recip_rank",
        "curve {q} {r}",
        "next {q} {r} -m recip_rank",
        "trust {r} {o} --people {q} --model {q} -m recip_rank",
        "report {q} {r} -m recip_rank -o {folder}/report.html",
        "judges {r} {q} {q2} -m recip_rank",
    ],
)
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_every_command_takes_a_dialect(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shlex

    paths = {"q": QRELS, "r": RUN, "o": OTHER, "q2": QRELS}
    for name, content in paths.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = {name: tmp_path / f"{name}.json" for name in paths}
    line = verb.format(**files, folder=tmp_path)
    status = main([*shlex.split(line), "--dialect", "trec_eval-9"])
    assert status in (0, None), capsys.readouterr()


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_a_policy_is_its_conventions() -> None:
    """What differs from germane's own conventions counts, as if it stood there by itself."""
    for conventions in ({"no_relevant": "skip"}, {"ties": "best", "no_hit": "nan"}):
        policy = germane.Policy(**conventions)
        result = germane.evaluate(QRELS, RUN, NAME, policy=policy)
        assert result.to_dict() == germane.evaluate(QRELS, RUN, NAME, **conventions).to_dict()
    germane.evaluate(QRELS, RUN, NAME, policy=None)


def test_a_policy_is_refused_beside_another_choice() -> None:
    policy = germane.Policy(ties="best")
    with pytest.raises(germane.errors.PolicyError, match=r"ties is chosen twice: 'worst', and"):
        germane.evaluate(QRELS, RUN, NAME, policy=policy, ties="worst")
    with pytest.raises(germane.errors.PolicyError, match=r"policy= takes a germane\.Policy"):
        germane.evaluate(QRELS, RUN, NAME, policy={"ties": "best"})


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("verb", sorted({*VERBS, *TRIES_ALL} - {"score", "verify"}))
def test_a_verb_takes_a_policy(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(**conventions: Any) -> str:
        monkeypatch.setattr(sys.modules[__name__], "TOOL", conventions)
        return str({**VERBS, **TRIES_ALL}[verb]())

    policy = germane.Policy(scores="single", grades="whole")
    if verb in ("Evaluator", "evaluate_embeddings"):
        call(policy=policy)
    else:
        assert call(policy=policy) == call(scores="single", grades="whole")
    assert "policy" in inspect.signature(getattr(germane, verb)).parameters
