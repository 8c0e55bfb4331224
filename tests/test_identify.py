"""identify: functions that are right are named, and wrong ones are not taken for what they are said to be."""

import json
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli

Function = Callable[..., Any]


# --- As people write them ---------------------------------------------------------------------------


def apk(actual: Any, predicted: Any, k: int = 10) -> float:
    """Divide by min(R,k); an item that is listed again is no hit."""
    score = hits = 0.0
    for i, p in enumerate(predicted[:k]):
        if p in actual and p not in predicted[:i]:
            hits += 1.0
            score += hits / (i + 1.0)
    return score / min(len(actual), k) if actual else 0.0


def sum_precisions(relevant: Any, ranked: Any) -> tuple[float, int]:
    hits, total = 0, 0.0
    for i, item in enumerate(ranked[:10], 1):
        if item in relevant:
            hits += 1
            total += hits / i
    return total, hits


def ap_found(relevant: Any, ranked: Any) -> float:
    total, hits = sum_precisions(relevant, ranked)
    return total / hits if hits else 0.0


def ap_k(relevant: Any, ranked: Any) -> float:
    return sum_precisions(relevant, ranked)[0] / 10


def ap_length(relevant: Any, ranked: Any) -> float:
    return sum_precisions(relevant, ranked)[0] / len(ranked)


def ap_ranks(relevant: Any, ranked: Any) -> float:
    return sum_precisions(relevant, ranked)[0] / len(ranked[:10]) if ranked else 0.0


def mean_precision(relevant: Any, ranked: Any) -> float:
    return float(np.mean([len({*ranked[:i]} & {*relevant}) / i for i in range(1, 11)]))


def dcg(grades: Any, k: int | None = 10, first: int = 2) -> float:
    return float(sum(grade / math.log2(i + first) for i, grade in enumerate(grades[:k])))


def ndcg(grades: Any) -> float:
    best = dcg(sorted(grades, reverse=True))
    return dcg(grades) / best if best else 0.0


def ndcg_of_first(grades: Any) -> float:
    best = dcg(sorted(grades[:10], reverse=True))
    return dcg(grades) / best if best else 0.0


def ndcg_shifted(grades: Any) -> float:
    best = dcg(sorted(grades, reverse=True), first=3)
    return dcg(grades, first=3) / best if best else 0.0


def ndcg_uncut(grades: Any) -> float:
    best = dcg(sorted(grades, reverse=True), None)
    return dcg(grades) / best if best else 0.0


def precision(relevant: set[str], ranked: list[str]) -> float:
    """Needs a set of relevant items."""
    return len(relevant & set(ranked[:5])) / 5


def reciprocal(relevant: Any, ranked: Any) -> float:
    return next((1 / i for i, item in enumerate(ranked, 1) if item in relevant), 0.0)


def mapk(actual: Any, predicted: Any) -> Any:
    return np.mean([apk(one, other) for one, other in zip(actual, predicted, strict=True)])


def each_rr(actual: Any, predicted: Any) -> Any:
    return np.array([reciprocal(one, other) for one, other in zip(actual, predicted, strict=True)])


def ndcg_matrix(grades: Any, scores: Any) -> Any:
    order = np.argsort(-scores, axis=1)[:, :5]
    discount = 1 / np.log2(np.arange(2, 2 + order.shape[1]))
    best = -np.sort(-grades, axis=1)[:, :5]
    with np.errstate(invalid="ignore"):
        return (np.take_along_axis(grades, order, 1) * discount).sum(1) / (best * discount).sum(1)


def recall_of_dicts(qrels: Any, run: Any) -> dict[str, float]:
    found = {}
    for query, judged in qrels.items():
        relevant = {item for item, grade in judged.items() if grade > 0}
        ranked = sorted(run[query], key=run[query].get, reverse=True)[:10]
        found[query] = len(relevant & set(ranked)) / len(relevant)
    return found


def answered_ap(qrels: Any, run: Any) -> float:
    """The mean over answered queries alone."""
    values = []
    for query in run:
        relevant = {item for item, grade in qrels.get(query, {}).items() if grade > 0}
        values.append(apk(relevant, sorted(run[query], key=run[query].get, reverse=True)))
    return float(np.mean(values))


def grades_added(grades: Any) -> float:
    """Precision of the grades 0 and 1."""
    return float(sum(grades[:5]) / 5)


def auc(labels: Any, scores: Any) -> float:
    positive, negative = scores[labels > 0], scores[labels <= 0]
    return float(
        np.mean(positive[:, None] > negative[None]) if len(positive) and len(negative) else 0
    )


RIGHT: list[tuple[Function, str, str]] = [
    (apk, "AP@10", "ids"),
    (mapk, "AP@10", "lists"),
    (ap_found, "AP(norm=found)@10", "ids"),
    (ap_k, "AP(norm=k)@10", "ids"),
    (mean_precision, "MeanP@10", "ids"),
    (ndcg, "nDCG@10", "grades"),
    (lambda grades: dcg([2**g - 1 for g in grades], None), "DCG(gain=exp)", "grades"),
    (precision, "P@5", "ids"),
    (reciprocal, "RR", "ids"),
    (each_rr, "RR", "lists"),
    (ndcg_matrix, "nDCG@5", "matrix"),
    (recall_of_dicts, "R@10", "dicts"),
    (grades_added, "P@5", "grades"),
    (auc, "AUROC", "arrays"),
]


@pytest.mark.parametrize(("function", "measure", "takes"), RIGHT)
def test_a_right_function_is_named(function: Function, measure: str, takes: str) -> None:
    found = germane.identify(function, measure, takes=takes)
    assert found.holds
    assert found.definitions[0].measure == germane.parse(measure)
    assert found.probes > 100
    assert found.counterexample is None
    unclaimed = germane.identify(function, takes=takes, rng=1)
    assert unclaimed.holds is None
    assert germane.parse(measure).definition in [
        one.measure.definition for one in unclaimed.definitions
    ]


WRONG: list[tuple[Function, str, str, str]] = [
    (ap_length, "AP@10", "ids", "divided by the length of the list"),
    (ap_ranks, "AP@10", "ids", "divided by the number of ranks looked at"),
    (ndcg_of_first, "nDCG@10", "grades", "only the items within the cutoff"),
    (ndcg_shifted, "nDCG@10", "grades", "the rank is one too high"),
    (ndcg_uncut, "nDCG@10", "grades", "the ideal ranking is not cut off"),
]


@pytest.mark.parametrize(("function", "measure", "takes", "mistake"), WRONG)
def test_a_wrong_function_is_not_named(
    function: Function, measure: str, takes: str, mistake: str
) -> None:
    found = germane.identify(function, measure, takes=takes)
    assert not found
    assert found.holds is False
    assert mistake in " ".join(found.mistakes)
    example = found.counterexample
    assert example is not None
    assert function(*example.arguments) == pytest.approx(example.value)
    assert abs(example.value - example.expected) > 1e-6
    assert str(example) in str(found)
    with pytest.raises(germane.errors.DefinitionError, match=mistake):
        germane.assert_computes(function, measure, takes=takes)


def test_the_claim_is_checked() -> None:
    """Another definition is named, and the smallest list on which the claim differs."""
    found = germane.identify(ap_found, "AP@10", takes="ids")
    assert found
    assert found.holds is False
    assert str(found.definitions[0]) == "AP(norm=found)@10"
    assert any(tool.startswith("torchmetrics:") for tool in found.definitions[0].tools)
    example = found.counterexample
    assert example is not None
    assert example.data == "'1' with 2 relevant"
    assert (example.value, example.expected) == (1.0, 1 / 2)
    with pytest.raises(AssertionError, match=r"It is not AP@10: on '1' with 2 relevant"):
        germane.assert_computes(ap_found, "AP@10", takes="ids")


def test_another_cutoff_or_family_is_named() -> None:
    nine = germane.identify(lambda a, p: apk(a, p, 9), "AP@10", takes="ids")
    assert str(nine.definitions[0]) == "AP@9"
    assert nine.counterexample is not None
    assert "the cutoff is one off" in nine.counterexample.says
    other = germane.identify(precision, "AP@10", takes="ids")
    assert str(other.definitions[0]) == "P@5"


def test_special_data_decides_conventions() -> None:
    twice = germane.identify(ap_found, takes="ids")
    assert twice.definitions[0].conventions["duplicates"] == "recount"
    assert twice.definitions[0].conventions["no_relevant"] == "zero"
    assert germane.identify(apk, takes="ids").definitions[0].conventions["duplicates"] == "keep"
    undefined = germane.identify(
        lambda a, p: len({*a} & {*p[:5]}) / len(a) if a else math.nan, "R@5", takes="ids"
    )
    assert undefined.definitions[0].conventions["no_relevant"] == "nan"
    assert "equal scores" in undefined.undecided
    answered = germane.identify(answered_ap, "AP@10", takes="dicts")
    assert answered.definitions[0].conventions["missing"] == "skip"
    with pytest.raises(germane.errors.DefinitionError):
        germane.assert_computes(answered_ap, "AP@10", takes="dicts", missing="zero")


def test_scikit_learn_is_found_with_its_ties() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = germane.identify(lambda y, s: metrics.ndcg_score(y, s, k=5), "nDCG@5", takes="matrix")
    assert found.holds
    assert found.definitions[0].conventions["ties"] == "expected"
    assert "scikit-learn:ndcg_score(k=5)" in found.definitions[0].tools
    assert "grades below 0" in found.raised


def test_frames_are_asked_in_the_library_that_works() -> None:
    polars = pytest.importorskip("polars")

    def hits(qrels: Any, run: Any) -> float:
        relevant = qrels.filter(polars.col("grade") > 0)
        best = run.sort("score", descending=True).group_by("user", maintain_order=True).head(3)
        both = best.join(relevant, on=["user", "item"]).select("user").n_unique()
        return float(both / relevant.select("user").n_unique())

    columns = {"query": "user", "relevance": "grade"}
    found = germane.identify(hits, "Success@3", takes="frames", columns=columns)
    assert found.holds
    assert any("Polars" in one for one in found.remarks)


def test_randomness_and_precision() -> None:
    dice = germane.identify(lambda grades: random.random(), takes="grades")
    assert not dice
    assert "it is random" in str(dice)

    def third(a: Any, p: Any) -> float:
        return round(len({*a} & {*p[:3]}) / 3, 3)

    found = germane.identify(third, "P@3", takes="ids")
    assert not found
    assert "P@3 gives the same values with decimals=3." in found.remarks
    assert germane.identify(third, "P@3", takes="ids", decimals=3).holds
    rounded = germane.identify(lambda a, p: round(apk(a, p), 4), "AP@10", takes="ids")
    assert rounded.holds
    assert "Its values are rounded to 4 decimals." in rounded.remarks
    single = germane.identify(lambda g: np.float32(ndcg(g)), "nDCG@10", takes="grades")
    assert single.holds
    assert "single precision" in str(single)


def test_a_constant_and_swapped_arguments_are_no_definition() -> None:
    constant = germane.identify(lambda grades: 0.5, takes="grades")
    assert not constant
    assert "0.5000 for all data" in str(constant)
    swapped = germane.identify(lambda p, a: apk(a, p), "AP@10", takes="ids")
    assert not swapped
    assert "in the other order it computes AP@10" in str(swapped)


def average(compute: Function, qrels: Any, run: Any, order: Function) -> float:
    """The mean over judged queries of a function of relevant items and a ranked list."""
    values = []
    for query, judged in qrels.items():
        relevant = [item for item, grade in judged.items() if grade > 0]
        values.append(compute(relevant, order(run.get(query, {}))))
    return float(np.mean(values))


def test_the_order_of_the_scores_counts() -> None:
    """A function that takes rows as they come is right on sorted data alone."""

    def sort(scores: Any) -> list[str]:
        return sorted(scores, key=scores.get, reverse=True)

    assert germane.identify(lambda q, r: average(apk, q, r, sort), "AP@10", takes="dicts").holds
    unsorted = germane.identify(lambda q, r: average(apk, q, r, list), "AP@10", takes="dicts")
    assert not unsorted
    assert unsorted.mistakes[0] == (
        "AP@10 with a mistake: the order of the rows counts, not the order of the scores"
    )
    example = unsorted.counterexample
    assert example is not None
    qrels, run = example.arguments
    assert len(run["q1"]) == 2, "as few items as show it"
    assert example.value == pytest.approx(average(apk, qrels, run, list))
    assert example.expected == pytest.approx(average(apk, qrels, run, sort))


def test_scores_of_0_and_close_scores_are_shown() -> None:
    def positive(scores: Any) -> list[str]:
        return [one for one in sorted(scores, key=scores.get, reverse=True) if scores[one] > 0]

    def single(scores: Any) -> list[str]:
        return sorted(scores, key=lambda one: np.float32(scores[one]), reverse=True)

    found = germane.identify(lambda q, r: average(apk, q, r, positive), "AP@10", takes="dicts")
    assert found.definitions[0].conventions["nonpositive"] == "miss"
    assert found.special["scores of 0 or less"] == "are no hits"
    found = germane.identify(lambda q, r: average(apk, q, r, single), "AP@10", takes="dicts")
    assert found.definitions[0].conventions["scores"] == "single"


def test_a_mean_over_queries_with_hits_is_another_definition() -> None:
    def forgets(qrels: Any, run: Any) -> float:
        each = [
            average(reciprocal, {q: qrels[q]}, run, lambda one: sorted(one, key=one.get)[::-1])
            for q in qrels
        ]
        return float(np.mean([value for value in each if value] or [math.nan]))

    found = germane.identify(forgets, "RR", takes="dicts")
    assert found.holds is False
    assert str(found.definitions[0]) == "RR, no_hit=skip"
    assert found.counterexample is not None
    assert found.counterexample.data == "'0' with 1 relevant"


def test_means_of_queries() -> None:
    def share(relevant: Any, ranked: Any) -> float:
        pairs = [({*a}, {*p[:5]}) for a, p in zip(relevant, ranked, strict=True)]
        return sum(len(a & p) for a, p in pairs) / max(1, sum(len(a) for a, _ in pairs))

    micro = germane.identify(share, "R@5", takes="lists")
    assert micro.holds is False
    assert str(micro.definitions[0]) == "R(mean=micro)@5"
    for combine, says in ((np.sum, "are added"), (np.median, "the median"), (np.max, "highest")):
        found = germane.identify(lambda a, p: combine(each_rr(a, p)), "RR", takes="lists")  # noqa: B023
        assert not found
        assert says in found.mistakes[0]
    percent = germane.identify(lambda a, p: 100 * apk(a, p), "AP@10", takes="ids")
    assert percent.mistakes[0] == "AP@10 with a mistake: the value is in percent"


def test_items_judged_not_relevant_are_not_relevant() -> None:
    def count_judged(qrels: Any, ranked: Any) -> float:
        return apk([*qrels], ranked)

    found = germane.identify(count_judged, "AP@10", takes="graded")
    assert not found
    assert "items that are judged not relevant count as relevant" in found.mistakes[0]


def test_data_in_other_containers() -> None:
    def of_numbers(relevant: Any, ranked: Any) -> float:
        return np.isin(np.asarray(relevant, int), ranked[:5]).sum() / max(1, relevant.size)

    found = germane.identify(of_numbers, "R@5", takes="ids")
    assert found.holds
    assert (
        "It takes only two arrays of whole numbers: other containers raise an error."
        in found.remarks
    )

    def of_judged(qrels: Any, ranked: Any) -> float:
        best = dcg(sorted(qrels.values(), reverse=True))
        return dcg([qrels[item] for item in ranked]) / best if best else 0.0

    found = germane.identify(of_judged, "nDCG@10", takes="graded")
    assert found.holds
    assert found.raised["items that nobody judged"].startswith("KeyError")

    def leaves(relevant: Any, ranked: Any) -> float:
        if not ranked:
            sys.exit("no results")
        return precision({*relevant}, ranked)

    found = germane.identify(leaves, "P@5", takes="ids")
    assert found.holds
    assert found.raised["empty list"].startswith("SystemExit: no results")


def test_a_function_that_raises_on_most_ordinary_data_is_not_named() -> None:
    def broken(qrels: Any, ranked: Any) -> float:
        negative = sum(grade < 0 for grade in qrels.values())
        return apk([*qrels], ranked) if qrels.get(ranked[0], 0) else 1 / negative

    found = germane.identify(broken, "AP@10", takes="graded")
    assert not found
    assert found.raised["ordinary queries"].startswith("ZeroDivisionError")


def test_parameters_that_are_any_number_come_from_the_claim() -> None:
    def rbp(relevant: Any, ranked: Any, k: int | None = 20) -> float:
        return 0.37 * sum(0.63**i for i, item in enumerate(ranked[:k]) if item in relevant)

    assert germane.identify(rbp, "RBP(p=0.63)@20", takes="ids").holds
    longer = germane.identify(lambda a, p: rbp(a, p, None), "RBP(p=0.63)@20", takes="ids")
    assert str(longer.definitions[0]) == "RBP(p=0.63)"
    assert any("such as p of RBP" in one for one in germane.identify(rbp, takes="ids").remarks)
    other = germane.identify(rbp, "RBP@20", takes="ids")
    assert not other
    assert any("RBP was tried with p=" in one for one in other.remarks)
    grade = germane.identify(
        lambda g: sum(one >= 3 for one in g[:7]) / 7, "P(rel=3)@7", takes="grades"
    )
    assert grade.holds
    gains = {0: 0, 1: 1, 2: 5, 3: 12, 5: 20}
    mapped = germane.identify(
        lambda g: ndcg([gains.get(one, 0) for one in g]),
        "nDCG(gain=1:1_2:5_3:12_5:20)@10",
        takes="grades",
    )
    assert mapped.holds


def test_files_may_be_read_in_their_order_and_are_shown_as_text() -> None:
    def in_file_order(qrels: str, run: str) -> float:
        relevant: dict[str, set[str]] = {}
        for line in Path(qrels).read_text("utf-8").splitlines():
            query, _, item, grade = line.split()
            relevant.setdefault(query, set()).update([item] if float(grade) > 0 else [])
        listed: dict[str, list[str]] = {}
        for line in Path(run).read_text("utf-8").splitlines():
            query, _, item, *_ = line.split()
            listed.setdefault(query, []).append(item)
        hits = [bool(items & {*listed.get(q, [])[:3]}) for q, items in relevant.items()]
        return sum(hits) / len(hits)

    found = germane.identify(in_file_order, "Success@3", takes="trec")
    assert found.holds, "lines of a run are in the order of their ranks"
    said = found.special["results in another order than their scores"]
    assert said == "the order of the rows counts, not the order of the scores"
    wrong = germane.identify(in_file_order, "P@3", takes="trec")
    assert wrong.counterexample is not None
    assert wrong.counterexample.arguments[0].startswith("q1 0 d")


def test_a_function_that_is_right_but_once_is_not_found() -> None:
    """Equal on nearly all data: one list of many is enough."""
    asked = []

    def nearly(relevant: Any, ranked: Any) -> float:
        asked.append(tuple(ranked))
        late = len(set(asked)) == 190
        return apk(relevant, ranked) + (1e-3 if late else 0.0)

    assert not germane.identify(nearly, "AP@10", takes="ids")


@pytest.mark.parametrize(
    ("function", "options", "error"),
    [
        (lambda grades: None, {"takes": "grades"}, "returned None, not a number"),
        (lambda grades: "0.5", {"takes": "grades"}, "returned '0.5', not a number"),
        (
            lambda grades: (1, 2),
            {"takes": "grades"},
            r"returned 2 values, not one number: \(1, 2\)",
        ),
        (
            lambda q, r: {"map": 1.0},
            {"takes": "dicts"},
            r"the key 'map', which is no query .*\['map'\]",
        ),
        (lambda grades: 1 / 0, {"takes": "grades"}, "raised on all data; .*ZeroDivisionError"),
        (apk, {"takes": "id"}, "takes takes .*Did you mean 'ids'"),
        (apk, {"takes": "ids", "measure": "Coverage"}, "a measure of whole lists"),
        (
            apk,
            {"takes": "ids", "measure": "AP50"},
            "'AP50' is a measure of boxes, .* germane boxes",
        ),
        (apk, {"takes": "ids", "measure": "mAP@[.5:.95]"}, "is a measure of boxes"),
        (
            lambda q, r: {one: {"map": 1.0} for one in q},
            {"takes": "dicts"},
            r"not a number. Choose it: lambda \*data: {q: one\['map'\]",
        ),
        (apk, {"takes": "ids", "measure": "alpha_nDCG@5"}, "a measure of subtopics"),
        (apk, {"takes": "ids", "tolerance": 2}, "tolerance takes"),
        (apk, {"takes": "ids", "decimals": 0}, "decimals takes"),
        (apk, {"takes": "ids", "collapse": {}}, "takes no collapse="),
        (3, {"takes": "ids"}, "takes a function; got 3"),
        (lambda a, p, n: 0.0, {}, r"has the arguments a, p, n; .*call=\{'n': …\} sets another"),
        (lambda *data, n: 0.0, {}, r"call=\{'n': …\} sets another"),
        (lambda a, p: 1 / 0, {}, "No other form works, either. takes=… chooses a form"),
        (apk, {"call": {"kk": 5}}, "apk has no argument 'kk'. Did you mean 'k'"),
        (apk, {"call": "k"}, r"call=\{'top_k': 10\}; got 'k'"),
    ],
)
def test_a_function_that_cannot_be_asked(
    function: Any, options: dict[str, Any], error: str
) -> None:
    with pytest.raises(germane.GermaneError, match=error):
        germane.identify(function, **options)


# --- The form of the data, where nobody says it, and further arguments -----------------------------


@pytest.mark.parametrize(
    ("function", "measure", "form"),
    [(ndcg, "nDCG@10", "grades"), (precision, "P@5", "ids"), (auc, "AUROC", "arrays"),
     (ndcg_matrix, "nDCG@5", "matrix")],
)  # fmt: skip
def test_the_form_is_found_by_trying(function: Function, measure: str, form: str) -> None:
    guessed = germane.identify(function)
    assert str(guessed.definitions[0]) == measure
    assert guessed.remarks[0].startswith(f"The form of the data was guessed: takes={form} (")
    assert guessed.definitions == germane.identify(function, takes=form).definitions


def precision_of(relevant: Any, ranked: Any, k: int) -> float:
    return len({*ranked[:k]} & {*relevant}) / k


def test_forms_with_different_measures_are_all_said() -> None:
    """Of a dict of grades the function sees the keys: it counts what was judged."""
    guessed = germane.identify(precision_of, "P@3", call={"k": 3})
    assert guessed.holds
    assert guessed.name == "precision_of(k=3)"
    assert "different measures in different forms: with takes=ids" in guessed.remarks[0]
    assert "P@3; with takes=graded ({item: grade}, ranked ids), Judged@3" in guessed.remarks[0]


@pytest.mark.slow
def test_a_guess_says_that_no_form_fits_and_tries_the_other_order() -> None:
    swapped = germane.identify(lambda p, a: apk(a, p), "AP@10")
    assert not swapped
    assert "in no form are the values those of a measure" in swapped.remarks[0]
    assert swapped.remarks[1] == (
        "With its arguments in the other order and takes=ids (relevant ids, ranked ids), it computes AP@10."
    )


def test_arguments_of_a_function_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "metric.py").write_text(
        "def p(grades, top, mode):\n    return sum(grades[:top]) / (top if mode == 'k' else 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    command = ["identify", "metric.py:p", "-m", "P@4", "--call", "top=4", "--call", "mode=k"]
    assert cli.main([*command, "--assert"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("p(top=4, mode='k') computes P@4")
    assert "--takes grades (a list of grades in rank order)" in out
    assert cli.main([*command, "--call", "top=5"]) == 2
    assert "--call sets top twice" in capsys.readouterr().err
    assert cli.main(["identify", "--command", "x {qrels} {run}", "--call", "a=1"]) == 2
    assert "a program has its arguments in its command" in capsys.readouterr().err


def test_an_answer_is_plain_values_markdown_and_html() -> None:
    found = germane.identify(ap_found, "AP@10", takes="ids")
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["schema"] == 1
    assert stored["definitions"][0]["definition"] == "AP(norm=found)@10"
    assert stored["counterexample"]["expected"] == 0.5
    assert "AP(norm=found)@10" in found.markdown()
    assert "<table" in found._repr_html_()
    assert not any(math.isnan(x) for x in [stored["probes"]])


def test_the_function_is_silent_and_its_data_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    def loud(relevant: list[str], ranked: list[str]) -> float:
        sys.stdout.write(str(ranked))
        value = precision({*relevant}, ranked)
        ranked.clear()
        relevant.clear()
        return value

    assert germane.identify(loud, "P@5", takes="ids").holds
    assert capsys.readouterr().out == ""


# --- The command ------------------------------------------------------------------------------------

PROGRAM = """
import sys
from collections import defaultdict
qrels, run = defaultdict(dict), defaultdict(list)
for line in open(sys.argv[1]):
    query, _, item, grade = line.split()
    qrels[query][item] = float(grade)
for line in open(sys.argv[2]):
    query, _, item, _, score, _ = line.split()
    run[query].append((float(score), item))
total = 0.0
for query, judged in qrels.items():
    relevant = {item for item, grade in judged.items() if grade > 0}
    hits = value = 0
    for i, (_, item) in enumerate(sorted(run[query], reverse=True)[:10], 1):
        if item in relevant:
            hits += 1
            value += hits / i
    total += value / (DIVISOR) if relevant else 0
print("map", "all", f"{total / len(qrels):.4f}")
"""


def write_program(folder: Path, divisor: str) -> str:
    path = folder / "my_eval.py"
    path.write_text(PROGRAM.replace("DIVISOR", divisor))
    return f"'{sys.executable}' '{path}' {{qrels}} {{run}}"


@pytest.mark.parametrize(
    ("divisor", "status", "says"),
    [
        ("min(10, len(relevant))", 0, "computes AP@10"),
        pytest.param("len(relevant)", 0, "computes AP(norm=R)@10", marks=pytest.mark.long),
        ("len(run[query]) or 1", 1, "no definition that germane knows, AP@10 included"),
        ("min(10, len(run[query])) or 1", 1, "a mistake: divided by the number of ranks looked at"),
    ],
)
def test_a_program_is_asked_in_a_dozen_calls(
    divisor: str, status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = write_program(tmp_path, divisor)
    given = ["identify", "--command", command, "-m", "AP@10", "--pattern", r"map\s+all\s+(\S+)"]
    assert cli.main([*given, "--format", "json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert says in found["verdict"]
    assert found["calls"] <= 12


def test_a_program_that_cannot_be_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud = tmp_path / "loud.py"
    loud.write_text("print('P_5 0.1 and 0.2')")
    failing = tmp_path / "failing.py"
    failing.write_text("raise SystemExit('no such flag')")
    python = f"'{sys.executable}'"
    for command, says in (
        (
            f"{python} {loud} {{qrels}} {{run}}",
            "it printed 2 numbers, not one; choose one with --pattern",
        ),
        (f"{python} {failing} {{qrels}} {{run}}", "exit status 1: no such flag"),
        (f"{python} {failing} {{qrels}} {{run}}", "failing.py failed on all data"),
        ("/no/such/program {qrels} {run}", "/no/such/program cannot be run: No such file"),
        (f"{python} {failing} {{qrels}}", "--command has {run} where the path"),
    ):
        assert cli.main(["identify", "--command", command]) == 2
        assert says in capsys.readouterr().err


def test_the_command_imports_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own_metrics.py").write_text(
        "def hit(relevant, ranked):\n    return any(item in relevant for item in ranked[:3])\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("own_metrics:hit", "own_metrics.py:hit"):
        assert cli.main(["identify", name, "-m", "Success@3", "--takes", "ids", "--assert"]) == 0
        assert "hit computes Success@3" in capsys.readouterr().out
    assert cli.main(["identify", "own_metrics:hit", "-m", "AP@3", "--takes", "ids"]) == 0
    assert (
        cli.main(["identify", "own_metrics:hit", "-m", "AP@3", "--takes", "ids", "--assert"]) == 1
    )
    capsys.readouterr()
    for given, says in (
        (["own_metrics:hits", "--takes", "ids"], "has no function 'hits'. Did you mean 'hit'?"),
        (["no_such_module:f", "--takes", "ids"], "no_such_module cannot be imported"),
        (["own_metrics", "--takes", "ids"], "a function is MODULE:FUNCTION"),
        ([], "identify takes MODULE:FUNCTION, or --command"),
    ):
        assert cli.main(["identify", *given]) == 2
        assert says in capsys.readouterr().err
