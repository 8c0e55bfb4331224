"""Record answers of a tool on the cases of conformance.json, in the format of its ``answers``.

    python tests/data/record_answers.py FOLDER TOOL [PROGRAM …]

Run it with the Python in which the tool is installed. FOLDER holds cases.json; FOLDER/answers/TOOL.json is
written, and record_conformance.py carries a part of it over. TOOL is one of the names in ``TOOLS``; PROGRAM is
the path of a script, for gdeval, longmemeval and mempalace.
"""

import contextlib
import copy
import io
import json
import subprocess
import sys
import tempfile
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
    if case["kind"] == "list":
        relevant, lists = case["actual"], case["ranking"]
    else:
        lists = {q: one for q, one in case["ranking_stable"].items() if q in case["qrels"]}
        relevant = {q: [d for d, g in case["qrels"][q].items() if g >= 1] for q in lists}
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

    if case["kind"] == "list":
        relevant, lists = case["actual"], case["ranking"]
    else:
        lists = {q: one for q, one in case["ranking_stable"].items() if q in case["qrels"]}
        relevant = {q: [d for d, g in case["qrels"][q].items() if g >= 1] for q in lists}
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


def list_sets(case: Case) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the relevant items of each query that has a list, and the lists."""
    if case["kind"] == "list":
        lists = case["ranking"]
        return {q: case["actual"].get(q, []) for q in lists}, lists
    lists = {q: one for q, one in case["ranking_stable"].items() if q in case["qrels"]}
    return {q: [d for d, g in case["qrels"][q].items() if g >= 1] for q in lists}, lists


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
