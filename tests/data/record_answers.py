"""Record answers of a tool on the cases of conformance.json, in the format of its ``answers``.

    python tests/data/record_answers.py FOLDER TOOL [PROGRAM …]

Run it with the Python in which the tool is installed. FOLDER holds cases.json; FOLDER/answers/TOOL.json is
written, and record_conformance.py carries a part of it over. TOOL is one of the names in ``TOOLS``; PROGRAM is
the path of a script, for gdeval, longmemeval and mempalace, of a module, for phoenix, or of the folder of a
package, for autorag.
"""

import contextlib
import copy
import io
import json
import runpy
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

Case = dict[str, Any]
Answer = tuple[str, dict[str, Any], str, dict[str, Any]]
"""Function, parameters, form of the input, and what came out."""


def ask(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the error that it raised."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return call()
    except Exception as error:  # a tool may raise anything
        return error


def list_sets(case: Case) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the relevant items of each query that has a list, and the lists."""
    if case["kind"] == "list":
        lists = case["ranking"]
        return {q: case["actual"].get(q, []) for q in lists}, lists
    lists = {q: one for q, one in case["ranking_stable"].items() if q in case["qrels"]}
    return {q: [d for d, g in case["qrels"][q].items() if g >= 1] for q in lists}, lists


def list_grades(case: Case) -> dict[str, dict[str, int]]:
    """Return the grades of each query that has a list; 1 for each item of a list of relevant ones."""
    if case["kind"] == "list":
        return {q: dict.fromkeys(one, 1) for q, one in case["actual"].items()}
    return {q: case["qrels"][q] for q in list_sets(case)[1]}


def ask_mteb(case: Case) -> Iterator[Answer]:
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, recall_cap

    k, data = case["k"], copy.deepcopy((case["run"], case["qrels"]))
    found = ask(lambda: calculate_retrieval_scores(*data, [k]))
    if isinstance(found, Exception):
        yield "calculate_retrieval_scores", {}, "run dict", {"error": str(found)}
    else:
        for group in (
            found.map,
            found.precision,
            found.recall,
            found.mrr,
            found.ndcg,
            found.hit_rate,
        ):
            for name, mean in group.items():
                function = f"calculate_retrieval_scores:{name}"
                yield function, {}, "run dict", {"aggregate": mean}
    capped = ask(lambda: recall_cap(data[1], data[0], [k]))
    function = f"recall_cap:R_cap_at_{k}"
    if isinstance(capped, Exception):
        yield function, {}, "run dict", {"error": str(capped)}
    else:
        per_query = dict(zip(data[0], capped[f"R_cap_at_{k}"], strict=True))
        yield function, {}, "run dict", {"per_query": per_query}


def ask_beir_custom(case: Case) -> Iterator[Answer]:
    from beir.retrieval.evaluation import EvaluateRetrieval

    yield from ask_custom(case, EvaluateRetrieval)


def ask_mteb_1(case: Case) -> Iterator[Answer]:
    from mteb.evaluation.evaluators.RetrievalEvaluator import RetrievalEvaluator

    yield from ask_custom(case, RetrievalEvaluator)


def ask_custom(case: Case, tool: Any) -> Iterator[Answer]:
    """Ask BEIR's function for measures beside those of pytrec_eval, which MTEB 1 has too.

    As usual, after the other one, which takes items out of the run whose id is the query's.
    """
    k = case["k"]
    data = copy.deepcopy((case["qrels"], case["run"]))
    ask(lambda: tool.evaluate(*data, [k]))
    for name in ("mrr", "recall_cap", "accuracy"):
        found = ask(lambda: tool.evaluate_custom(*data, [k], name))  # noqa: B023
        written = {"mrr": "MRR", "recall_cap": "R_cap", "accuracy": "Accuracy"}[name]
        answer = {"error": str(found)} if isinstance(found, Exception) else None
        function = f"evaluate_custom:{written}@{k}"
        means = (
            found[0] if isinstance(found, tuple) else found
        )  # beside another measure of the tool
        yield function, {}, "run dict", answer or {"aggregate": means[f"{written}@{k}"]}


def ask_gdeval(case: Case) -> Iterator[Answer]:
    """Ask the script; it takes numbers for ids of queries, so that they are numbered."""
    k = case["k"]
    if case["kind"] == "list":
        judged = {q: [(d, 1) for d in one] for q, one in case["actual"].items()}
        lists = {q: [(d, -i) for i, d in enumerate(one)] for q, one in case["ranking"].items()}
    else:
        judged, lists = ({q: one.items() for q, one in case[x].items()} for x in ("qrels", "run"))
    numbers = {q: str(i) for i, q in enumerate({**judged, **lists}, 1)}
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels.txt"), Path(folder, "run.txt")
        rows = ((q, *row) for q, one in judged.items() for row in one)
        qrels.write_text("".join(f"{numbers[q]} 0 {d} {grade}\n" for q, d, grade in rows))
        rows = ((q, *row) for q, one in lists.items() for row in one)
        run.write_text("".join(f"{numbers[q]} Q0 {d} 1 {score!r} run\n" for q, d, score in rows))
        for flags in ([], ["-c"]):
            command = ["perl", sys.argv[3], *flags, "-k", str(k), str(qrels), str(run)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            printed = [line.split(",") for line in done.stdout.splitlines()[1:]]
            for at, name in ((2, "ndcg"), (3, "err")):
                params = {"flags": " ".join(flags), "k": k}
                if done.returncode or not printed:
                    answer: dict[str, Any] = {"error": done.stderr or "no output"}
                else:
                    values = {row[1]: float(row[at]) for row in printed}
                    answer = {"aggregate": values.pop("amean"), "per_query": values}
                yield name, params, "run+qrels files, queries numbered", answer


def ask_unitxt(case: Case) -> Iterator[Answer]:
    from unitxt.metrics import MAP, MRR, RetrievalAtK

    k = case["k"]
    relevant, lists = list_sets(case)
    for metric in (MAP(), MRR(), RetrievalAtK(k_list=[k])):
        found = {
            q: ask(lambda: metric.compute([relevant.get(q, [])], lists[q], {}))  # noqa: B023
            for q in lists
        }
        names = dict.fromkeys(
            name for one in found.values() if isinstance(one, dict) for name in one
        )
        for name in names:
            values = {q: one[name] for q, one in found.items()}
            mean = sum(values.values()) / len(values)
            yield name, {}, "ranked list", {"per_query": values, "aggregate": mean}


def ask_lenskit(case: Case) -> Iterator[Answer]:
    """Ask about each list alone, and for the mean that 2026.4 gives of all lists."""
    from lenskit import metrics
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics.ranking import AveragePrecision

    relevant, lists = list_sets(case)
    found = {q: ItemList(item_ids=one, ordered=True) for q, one in lists.items()}
    wanted = {q: ItemList(item_ids=relevant.get(q, [])) for q in lists}
    kinds = {"AveragePrecision": AveragePrecision}
    kinds |= {
        n: getattr(metrics, n)
        for n in ["Precision", "Recall", "RecipRank", "Hit", "NDCG", "DCG", "RBP"]
    }
    for n in (None, case["k"]):
        for name, kind in kinds.items():
            values = {q: ask(lambda: kind(n=n).measure_list(found[q], wanted[q])) for q in lists}  # noqa: B023
            answer = {"per_query": {q: _write(one) for q, one in values.items()}}
            if version("lenskit") >= "2026":
                collector = metrics.MeasurementCollector()
                collector.add_metric(kind(n=n), "it")
                both = (ItemListCollection.from_dict(one, ["user_id"]) for one in (found, wanted))
                means = ask(lambda: collector.measure_run(*both).summary_metrics)  # noqa: B023
                failed = isinstance(means, Exception)
                answer["aggregate"] = _write(means if failed else means["it.mean"])
            yield name, {"n": n}, "ranking list (ordered ItemList)", answer


def ask_torchmetrics(case: Case) -> Iterator[Answer]:
    """Ask the classes of which the other recorded answers have none, for the retrieved and padded lists."""
    import torch
    from torchmetrics import retrieval

    names = ("RetrievalAUROC", "RetrievalFallOut")
    for form in ("padded_tail", "retrieved_only"):
        lists = {}
        for query, padded in case["padded"].items():
            n = len(padded["docs"]) if form == "padded_tail" else padded["n_retrieved"]
            lists[query] = padded["scores"][:n], [int(one >= 1) for one in padded["labels"][:n]]
        for name, k in ((name, k) for name in names for k in (None, case["k"])):
            made = getattr(retrieval, name)

            def measure(queries: list[str]) -> Any:
                rows = [
                    (at, score, label)
                    for at, query in enumerate(queries)
                    for score, label in zip(*lists[query], strict=True)  # noqa: B023
                ]
                if not rows:
                    return None
                at, scores, labels = zip(*rows, strict=True)
                tensors = torch.tensor(scores, dtype=torch.float32), torch.tensor(labels)
                return float(made(top_k=k)(*tensors, indexes=torch.tensor(at)))  # noqa: B023

            values = {query: ask(lambda: measure([query])) for query in lists}  # noqa: B023
            answer = {
                "per_query": {q: _write(one) for q, one in values.items() if one is not None},
                "aggregate": _write(ask(lambda: measure([q for q in lists if lists[q][0]]))),  # noqa: B023
            }
            yield name, {} if k is None else {"top_k": k}, form, answer


def ask_mlflow(case: Case) -> Iterator[Answer]:
    """Ask the functions of the metrics for retrievers about a frame with a row for each query."""
    import pandas as pd
    from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k

    relevant, lists = list_sets(case)
    rows = [pd.Series([one[q] for q in lists]) for one in (lists, relevant)]
    for make in (precision_at_k, recall_at_k, ndcg_at_k):
        metric = make(case["k"])
        found = metric.eval_fn(*rows)
        values = dict(zip(lists, map(float, found.scores), strict=True))
        answer = {"per_query": values, "aggregate": float(found.aggregate_results["mean"])}
        yield metric.name, {}, "ranked list", answer


def ask_phoenix(case: Case) -> Iterator[Answer]:
    """Ask its class for the retrieval metrics, of which PROGRAM is the file, about grades in order."""
    import pandas as pd

    made = load_source()["RetrievalMetrics"]
    grades, lists = list_grades(case), list_sets(case)[1]
    metrics = {q: made([grades[q].get(d, 0) for d in one]) for q, one in lists.items()}
    for name in ("ndcg", "precision", "reciprocal_rank", "hit"):
        for k in (None, case["k"])[: 2 if name in ("ndcg", "precision") else 1]:
            call = {} if k is None else {"k": k}
            found = {q: ask(lambda: getattr(one, name)(**call)) for q, one in metrics.items()}  # noqa: B023
            failed = any(isinstance(value, Exception) for value in found.values())
            answer = {"per_query": {q: _write(value) for q, value in found.items()}}
            if not failed:
                answer["aggregate"] = _write(pd.Series(found, dtype=float).mean())
            yield name, call, "ranked list, judgments (graded kept)", answer


def ask_replay(case: Case) -> Iterator[Answer]:
    """Ask about frames of pandas; a list without scores is given its ranks."""
    import pandas as pd
    from replay import metrics
    from replay.metrics import PerUser

    if case["kind"] == "list":
        relevant = case["actual"]
        run = {q: [(d, -float(i)) for i, d in enumerate(one)] for q, one in case["ranking"].items()}
    else:
        relevant = {q: [d for d, g in one.items() if g >= 1] for q, one in case["qrels"].items()}
        run = {q: list(one.items()) for q, one in case["run"].items()}
    rows = [(q, d, score) for q, one in run.items() for d, score in one]
    found = pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])
    rows = [(q, d) for q, one in relevant.items() for d in one]
    truth = pd.DataFrame(rows, columns=["query_id", "item_id"])
    k = case["k"]
    for name in ("HitRate", "MAP", "MRR", "NDCG", "Precision", "Recall"):
        make = getattr(metrics, name)
        means, values = (
            ask(lambda: next(iter(make(k, **mode)(found, truth).values())))  # noqa: B023
            for mode in ({}, {"mode": PerUser()})
        )
        if isinstance(means, Exception):
            answer: dict[str, Any] = {"error": str(means)}
        else:
            per_query = {q: float(value) for q, value in values.items()}
            answer = {"per_query": per_query, "aggregate": float(means)}
        yield f"{name}@{k}", {}, "run dict", answer


def ask_deepeval(case: Case) -> Iterator[Answer]:
    """Ask for the score of given verdicts, which a language model gives otherwise."""
    from deepeval.metrics import ContextualPrecisionMetric
    from deepeval.metrics.base_metric import Verdict
    from deepeval.metrics.contextual_precision.schema import ContextualPrecisionVerdict

    relevant, lists = list_sets(case)
    values = {}
    for q, ranked in lists.items():
        metric = object.__new__(ContextualPrecisionMetric)  # made otherwise, it looks for a model
        metric.strict_mode = False
        words = [Verdict.YES if d in relevant[q] else Verdict.NO for d in ranked]
        metric.verdicts = [ContextualPrecisionVerdict(verdict=one, reason="") for one in words]
        values[q] = float(metric._calculate_score())
    yield "ContextualPrecision", {}, "ranked list", {"per_query": values}


def ask_trulens(case: Case) -> Iterator[Answer]:
    """Ask about ranked lists, and about lists with scores, of which some are equal."""
    from trulens.feedback import GroundTruthAgreement

    grades, lists = list_grades(case), list_sets(case)[1]
    relevant = {q: {d: g for d, g in one.items() if g >= 1} for q, one in grades.items()}
    golden = [
        {
            "query": q,
            "expected_chunks": [{"text": d, "expect_score": g} for d, g in one.items()],
            "expected_memories": list(one),
        }
        for q, one in relevant.items()
    ]
    tool = GroundTruthAgreement.model_construct(
        ground_truth=golden, ground_truth_imp=None, conversation_id=None
    )
    k, form = case["k"], "ranked list, judgments (graded kept)"
    for name in ("ndcg_at_k", "precision_at_k", "recall_at_k", "ir_hit_rate"):
        for call in ({"k": k}, {})[: 1 if name == "ndcg_at_k" else 2]:
            made = getattr(tool, name)
            values = {q: _write(made(q, one, **call)) for q, one in lists.items()}
            yield name, call, form, {"per_query": values}
    for name in ("mrr", "memory_recall", "memory_mrr"):
        values = {q: _write(getattr(tool, name)(q, one)) for q, one in lists.items()}
        yield name, {}, form, {"per_query": values}
    if case["kind"] == "list":
        return
    scored = {q: one for q, one in case["run"].items() if q in grades}
    for name in ("ndcg_at_k", "precision_at_k", "recall_at_k", "mrr"):
        call = {} if name == "mrr" else {"k": k}
        made = getattr(tool, name)
        values = {
            q: _write(made(q, list(one), [*one.values()], **call)) for q, one in scored.items()
        }
        yield name, call, "run dict", {"per_query": values}


def ask_autorag(case: Case) -> Iterator[Answer]:
    """Ask its functions, of which PROGRAM is the folder, about items that are wanted one by one."""
    import importlib

    import pandas as pd

    relevant, lists = list_sets(case)
    for name in ("autorag", "autorag.schema", "autorag.evaluation", "autorag.evaluation.metric"):
        package = sys.modules.setdefault(name, types.ModuleType(name))  # without what it imports
        package.__path__ = [str(Path(sys.argv[3], *name.split(".")))]
    tools: Any = sys.modules.setdefault("autorag.utils.util", types.ModuleType("util"))
    tools.convert_inputs_to_list = lambda function: function  # lists are lists
    tool = importlib.import_module("autorag.evaluation.metric.retrieval")
    schema = importlib.import_module("autorag.schema.metricinput")
    asked = [
        schema.MetricInput(retrieval_gt=[[d] for d in relevant[q]] or [[]], retrieved_ids=one)
        for q, one in lists.items()
    ]
    for name in ("f1", "recall", "precision"):
        found = getattr(tool, f"retrieval_{name}")(metric_inputs=asked)
        means = pd.Series(found, dtype=float)
        answer = {
            "per_query": dict(zip(lists, map(_write, means), strict=True)),
            "aggregate": _write(means.mean()),
        }
        yield f"retrieval_{name}", {}, "ranked list", answer


def load_source() -> dict[str, Any]:
    """Run the file PROGRAM, a module of a package that is too large to be installed."""
    return runpy.run_path(sys.argv[3])


def _write(value: Any) -> Any:
    if isinstance(value, Exception):
        return f"ERROR {value}"
    return "NaN" if value != value else float(value)


def ask_longmemeval(case: Case) -> Iterator[Answer]:
    """Ask src/retrieval/eval_utils.py about lists of a corpus that has all relevant documents."""
    yield from ask_memory(case, load_script("longmemeval").evaluate_retrieval)


def ask_mempalace(case: Case) -> Iterator[Answer]:
    """Ask the functions of benchmarks/longmemeval_bench.py and locomo_bench.py."""
    tool = load_script("mempalace")
    yield from ask_memory(case, tool.evaluate_retrieval)
    relevant, lists = list_sets(case)
    for k in (case["k"], 2):
        values = {
            q: tool.compute_retrieval_recall(one[:k], set(relevant[q])) for q, one in lists.items()
        }
        yield "compute_retrieval_recall", {"k": k}, "ranked list", give_mean(values)


def ask_memory(case: Case, function: Any) -> Iterator[Answer]:
    relevant, lists = list_sets(case)
    for k in (case["k"], 2):
        values = {}
        for query, ranked in lists.items():
            corpus = [*ranked, *(d for d in dict.fromkeys(relevant[query]) if d not in ranked)]
            values[query] = function(range(len(ranked)), relevant[query], corpus, k)
        for at, name in enumerate(("recall_any", "recall_all", "ndcg_any")):
            of_one = {q: float(one[at]) for q, one in values.items()}
            yield name, {"k": k}, "ranked list", give_mean(of_one)


def give_mean(values: dict[str, float]) -> dict[str, Any]:
    return {"per_query": values, "aggregate": sum(values.values()) / len(values)}


def load_script(name: str) -> Any:
    """Load a script, of which only functions without other packages than NumPy are wanted."""
    import ast
    import math
    from types import SimpleNamespace

    import numpy

    if not hasattr(numpy, "asfarray"):  # which NumPy 2 has no more
        numpy.asfarray = lambda values: numpy.asarray(values, float)
    found: dict[str, Any] = {"np": numpy, "math": math}
    for path in sys.argv[3:]:
        tree = ast.parse(Path(path).read_text("utf-8"))
        wanted = ("dcg", "ndcg", "evaluate_retrieval", "compute_retrieval_recall")
        tree.body = [one for one in tree.body if getattr(one, "name", "") in wanted]
        exec(compile(tree, name, "exec"), found)
    return SimpleNamespace(**found)


TOOLS: dict[str, Any] = {
    "torchmetrics-1.9.0": (ask_torchmetrics, "torchmetrics", "ir"),
    "lenskit-2026.4": (ask_lenskit, "lenskit", "ir", "list"),
    "lenskit-2025.8": (ask_lenskit, "lenskit", "ir", "list"),
    "mteb-2.18.18": (ask_mteb, "mteb", "ir"),
    "mteb-1": (ask_mteb_1, "mteb", "ir"),
    "beir-custom": (ask_beir_custom, "beir", "ir"),
    "gdeval": (ask_gdeval, "1.3", "ir", "list"),
    "longmemeval": (ask_longmemeval, "git 9e0b455", "ir", "list"),
    "mempalace": (ask_mempalace, "git 9b7cfc9", "ir", "list"),
    "unitxt": (ask_unitxt, "unitxt", "ir", "list"),
    "mlflow": (ask_mlflow, "mlflow", "ir", "list"),
    "phoenix": (ask_phoenix, "20.26.1", "ir", "list"),
    "replay": (ask_replay, "replay-rec", "ir", "list"),
    "deepeval": (ask_deepeval, "deepeval", "ir", "list"),
    "trulens": (ask_trulens, "trulens-feedback", "ir", "list"),
    "autorag": (ask_autorag, "0.3.27", "ir", "list"),
}
"""How a tool is asked, the package that has it (or its version), and the kinds of cases that it takes."""


def is_possible(case: Case) -> bool:
    """Can gdeval read the case: has no id a blank, and is no grade above 4?"""
    judged = [pair for one in case.get("qrels", {}).values() for pair in one.items()]
    return all(" " not in doc and grade <= 4 for doc, grade in judged)


def main(folder: Path, tool: str) -> None:
    """Ask a tool about every case that it can be given, and write its answers."""
    asked, package, *kinds = TOOLS[tool]
    functions: dict[str, dict[str, Any]] = {}
    for case in json.loads((folder / "cases.json").read_text("utf-8"))["cases"]:
        if case["kind"] not in kinds or (tool == "gdeval" and not is_possible(case)):
            continue
        for name, params, form, answer in asked(case):
            key = json.dumps([name, params, form])
            blank = {"function": name, "params": params, "input": form, "answers": {}}
            functions.setdefault(key, blank)["answers"][case["name"]] = answer
    is_version = package[0].isdigit() or package.startswith("git ")
    told = package if is_version else f"{package} {version(package)}"
    text = json.dumps({"version": told, "functions": list(functions.values())})
    (folder / "answers" / f"{tool}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
