"""Whole responses of search engines and vector stores, in files and in Python.

The shapes are those of the engines' documentation and of responses of qdrant-client; each has the
same rankings as a TREC file, and must give the same numbers.
"""

import copy
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import germane
from germane import cli
from germane.errors import DuplicateError, FormatError

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")

SCORED = {
    "red shoes": [("p5", 9.5), ("p4", 8.25), ("p1", 3.0)],
    "umbrella": [("p7", 4.5), ("p9", 1.5)],
}
QRELS = {"red shoes": {"p1": 2, "p4": 1, "p5": 0}, "umbrella": {"p7": 1, "p8": 1}}
MEASURES = "nDCG@10 AP RR"
EXPECTED = germane.evaluate(QRELS, {q: dict(pairs) for q, pairs in SCORED.items()}, MEASURES).flat()
QUERIES = list(SCORED)


def elastic(pairs: list[tuple[str, float]]) -> dict[str, Any]:
    hits = [
        {"_index": "shop", "_id": item, "_score": score, "_source": {"name": item, "id": 3}}
        for item, score in pairs
    ]
    total = {"value": len(hits), "relation": "eq"}
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    hits_ = {"total": total, "max_score": max((s for _, s in pairs), default=None), "hits": hits}
    return {"took": 3, "timed_out": False, "_shards": shards, "hits": hits_}


def points(pairs: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [
        {"id": item, "version": 0, "score": score, "payload": None, "vector": None}
        for item, score in pairs
    ]


def qdrant(pairs: list[tuple[str, float]]) -> dict[str, Any]:
    return {"result": {"points": points(pairs)}, "status": "ok", "time": 0.001, "usage": None}


def chroma(*lists: list[tuple[str, float]]) -> dict[str, Any]:
    return {
        "ids": [[item for item, _ in pairs] for pairs in lists],
        "distances": [[10 - score for _, score in pairs] for pairs in lists],
        "embeddings": None, "metadatas": [[None] * len(pairs) for pairs in lists],
        "documents": None, "uris": None, "included": ["metadatas", "distances"],
    }  # fmt: skip


def milvus(*lists: list[tuple[str, float]], sign: int = 1) -> dict[str, Any]:
    data = [
        {"id": item, "distance": sign * score, "color": "red"}
        for pairs in lists
        for item, score in pairs
    ]
    return {"code": 0, "cost": 6, "data": data, "topks": [len(pairs) for pairs in lists]}


ONE = {
    "_search": elastic,
    "hits of _search": lambda pairs: elastic(pairs)["hits"]["hits"],
    "qdrant": qdrant,
    "qdrant, points": lambda pairs: {"points": points(pairs)},
    "qdrant, older": lambda pairs: {"result": points(pairs), "status": "ok", "time": 0.1},
    "qdrant, groups": lambda pairs: {
        "result": {
            "groups": [
                {"id": i, "hits": [{"id": f"{i}#1", "score": s, "version": 0}]} for i, s in pairs
            ]
        },
        "status": "ok",
    },
    "pinecone": lambda pairs: {
        "results": [], "matches": [{"id": i, "score": s, "values": []} for i, s in pairs],
        "namespace": "", "usage": {"read_units": 5},
    },
    "chroma": chroma,
    "milvus, similarity": milvus,
    "milvus, distance": lambda pairs: milvus([(i, 10 - s) for i, s in pairs]),
    "solr": lambda pairs: {
        "responseHeader": {"status": 0, "QTime": 5},
        "response": {
            "numFound": 3, "start": 0, "numFoundExact": True,
            "docs": [{"id": i, "score": s, "title": ["t"]} for i, s in pairs],
        },
    },
    "solr without scores": lambda pairs: {"response": {"docs": [{"id": i} for i, _ in pairs]}},
    "vespa": lambda pairs: {
        "root": {
            "id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2},
            "children": [{"id": i, "relevance": s, "source": "music"} for i, s in pairs],
        }
    },
    "typesense": lambda pairs: {
        "found": 2, "page": 1,
        "hits": [{"id": i, "document": {"id": i}, "text_match": int(4 * s)} for i, s in pairs],
    },
    "meilisearch": lambda pairs: {
        "hits": [{"id": i, "_rankingScore": s / 10} for i, s in pairs], "processingTimeMs": 1,
        "estimatedTotalHits": 3,
    },
    "algolia": lambda pairs: {"hits": [{"objectID": i} for i, _ in pairs], "nbHits": 3, "page": 0},
    "weaviate": lambda pairs: {
        "data": {"Get": {"Shoe": [{"id": i, "distance": 10 - s} for i, s in pairs]}}
    },
    "azure": lambda pairs: {"@odata.count": 2, "value": [{"id": i, "@search.score": s} for i, s in pairs]},
    "weaviate, additional": lambda pairs: {
        "data": {"Get": {"Shoe": [{"_additional": {"id": i, "score": str(s)}} for i, s in pairs]}}
    },
    "typesense, large": lambda pairs: {
        "hits": [
            {"document": {"id": i}, "text_match": 578730123365711990 - n}
            for n, (i, _) in enumerate(pairs)
        ],
        "found": 2,
    },
    "azure, reranked": lambda pairs: {
        "value": [
            {"id": i, "@search.score": -s, "@search.rerankerScore": s / 4} for i, s in pairs
        ],
        "@odata.nextLink": "…",
    },
    "vertex, neighbors": lambda pairs: {
        "nearestNeighbors": [
            {
                "id": "0",
                "neighbors": [{"datapoint": {"datapointId": i}, "distance": 10 - s} for i, s in pairs],
            }
        ]
    },
    "cohere with documents": lambda pairs: {
        "results": [
            {"index": n, "relevance_score": s / 10, "document": {"id": i, "text": "…"}}
            for n, (i, s) in enumerate(pairs)
        ],
        "id": "07", "meta": {},
    },
    "llama_index": lambda pairs: {
        "response": "…",
        "source_nodes": [{"node": {"id_": i, "text": "…"}, "score": s} for i, s in pairs],
    },
    "langchain, dumped": lambda pairs: [
        {"lc": 1, "id": ["langchain", "Document"], "kwargs": {"id": i, "page_content": "…"}}
        for i, _ in pairs
    ],
    "milvus, client": lambda pairs: [[{"id": i, "distance": s, "entity": {}} for i, s in pairs]],
    "pages": lambda pairs: [elastic(pairs[:1]), elastic(pairs[1:])],
    "ids": lambda pairs: {"results": [i for i, _ in pairs]},
}  # fmt: skip
"""Makes a response to one query, for each engine."""

ALL = {
    "_msearch": {"took": 9, "responses": [{**elastic(p), "status": 200} for p in SCORED.values()]},
    "qdrant, batch": {"result": [{"points": points(p)} for p in SCORED.values()], "status": "ok"},
    "qdrant, older batch": {"result": [points(p) for p in SCORED.values()], "status": "ok"},
    "chroma": chroma(*SCORED.values()),
    "milvus": milvus(*SCORED.values()),
    "milvus, distances": milvus(*SCORED.values(), sign=-1),
    "meilisearch, typesense": {"results": [{"hits": points(p)} for p in SCORED.values()]},
    "a list of responses": [elastic(p) for p in SCORED.values()],
    "a list of lists": [points(p) for p in SCORED.values()],
}
"""Responses to several requests, in their order."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ids.txt").write_text("\n".join(QUERIES))
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    rows = ((q.replace(" ", "_"), item, s) for q, pairs in SCORED.items() for item, s in pairs)
    (tmp_path / "trec.run").write_text("".join(f"{q} Q0 {i} 0 {s} x\n" for q, i, s in rows))
    judged = [(q.replace(" ", "_"), i, g) for q, items in QRELS.items() for i, g in items.items()]
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {i} {g}\n" for q, i, g in judged))
    return tmp_path


def store(path: Path, raw: Any) -> str:
    """Store a value as JSON, or a list as JSON Lines."""
    is_lines = path.suffix == ".jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in raw) if is_lines else json.dumps(raw))
    return str(path)


def evaluate(qrels: Path, run: str, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """The values that the command prints."""
    command = ["evaluate", str(qrels), run, "-m", MEASURES, "--format", "tsv", *options]
    assert cli.main(command) == 0, capsys.readouterr().err
    return capsys.readouterr().out.splitlines()[1].split("\t")[1:]


@pytest.mark.parametrize("engine", ONE)
def test_the_response_to_each_query(
    engine: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of ``{query: response}``, and a line each, as the same ranking in a TREC file."""
    trec = evaluate(files / "qrels.txt", str(files / "trec.run"), capsys)
    by_query = {query: ONE[engine](pairs) for query, pairs in SCORED.items()}
    before = copy.deepcopy(by_query)
    assert evaluate(files / "qrels.json", store(files / "r.json", by_query), capsys) == trec
    name = "hits" if isinstance(by_query["umbrella"], list) else "response"
    rows = [{"query": query, name: response} for query, response in by_query.items()]
    assert evaluate(files / "qrels.json", store(files / "r.jsonl", rows), capsys) == trec
    assert evaluate(files / "qrels.json", store(files / "rows.json", rows), capsys) == trec
    for run in (by_query, rows, files / "r.json", files / "r.jsonl"):
        assert germane.evaluate(QRELS, run, MEASURES).flat() == EXPECTED
    assert by_query == before


@pytest.mark.parametrize("engine", ALL)
def test_the_response_to_all_queries(
    engine: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = ALL[engine]
    run, ids = store(files / "all.json", raw), files / "ids.txt"
    trec = evaluate(files / "qrels.txt", str(files / "trec.run"), capsys)
    assert evaluate(files / "qrels.json", run, capsys, "--query-ids", str(ids)) == trec
    for query_ids in (QUERIES, str(ids)):
        assert germane.evaluate(QRELS, raw, MEASURES, query_ids=query_ids).flat() == EXPECTED
    assert cli.main(["evaluate", str(files / "qrels.json"), run]) == 2
    said = capsys.readouterr().err
    assert "does not name the queries" in said
    assert "--query-ids" in said


def test_names_of_queries_come_from_any_list(files: Path) -> None:
    run = store(files / "all.json", ALL["_msearch"])
    tsv, lines, nested = files / "q.tsv", files / "q.jsonl", files / "q.json"
    tsv.write_text("".join(f"{query}\tsome text\n" for query in QUERIES))
    store(lines, [{"_id": query, "text": "…"} for query in QUERIES])
    store(nested, QUERIES)
    for ids in (tsv, lines, nested):
        assert germane.evaluate(QRELS, run, MEASURES, query_ids=ids).flat() == EXPECTED


def test_ids_of_queries_beside_a_run_that_names_its_own(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two engines are compared at once, of which one names the queries; its names are kept."""
    batch, ids = store(files / "batch.json", ALL["_msearch"]), str(files / "ids.txt")
    pairs = [*SCORED.items()][::-1]  # in another order than the ids
    named = store(files / "named.json", {q: ONE["qdrant"](found) for q, found in pairs})
    qrels = str(files / "qrels.json")
    command = ["evaluate", qrels, batch, named, "-m", MEASURES, "--format", "tsv"]
    assert cli.main([*command, "--query-ids", ids]) == 0, capsys.readouterr().err
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:3]]
    assert rows[0][1:] == rows[1][1:]
    strange = store(files / "strange.json", {"q?": ONE["qdrant"](pairs[0][1])})
    assert cli.main(["evaluate", qrels, strange, "--query-ids", ids]) == 2
    assert "'q?' is not among the ids of --query-ids" in capsys.readouterr().err


def test_every_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, ids = str(files / "qrels.json"), ["--query-ids", str(files / "ids.txt")]
    run = store(files / "a.json", ALL["_msearch"])
    other = store(files / "b.json", ALL["chroma"])
    page = ["-o", str(files / "page.html")]
    for command in (
        ["check", qrels, run],
        ["explain", qrels, run, "--query", "umbrella"],
        ["compare", qrels, run, other],
        ["report", qrels, run, other, *page],
        ["gate", qrels, run, "--baseline", other],
        ["curve", qrels, run],
        ["reconcile", qrels, run, "-m", "RR", "--reported", "0.75"],
    ):
        assert cli.main([*command, *ids]) == 0, (command, capsys.readouterr().err)


def test_rank_eval(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The request has the ratings, and the response the rankings."""
    request = {
        "requests": [
            {
                "id": query,
                "request": {"query": {"match": {"name": query}}},
                "ratings": [
                    {"_index": "shop", "_id": item, "rating": grade}
                    for item, grade in judged.items()
                ],
            }
            for query, judged in QRELS.items()
        ],
        "metric": {"dcg": {"k": 10, "normalize": True}},
    }
    response = {
        "metric_score": 0.5,
        "details": {
            query: {
                "metric_score": 0.5,
                "unrated_docs": [],
                "hits": [
                    {"hit": hit, "rating": QRELS[query].get(hit["_id"])}
                    for hit in elastic(pairs)["hits"]["hits"]
                ],
                "metric_details": {"dcg": {"dcg": 1.0}},
            }
            for query, pairs in SCORED.items()
        },
        "failures": {},
    }
    qrels, run = store(files / "request.json", request), store(files / "response.json", response)
    trec = evaluate(files / "qrels.txt", str(files / "trec.run"), capsys)
    assert evaluate(Path(qrels), run, capsys) == trec
    assert germane.evaluate(request, response, MEASURES).flat() == EXPECTED
    with pytest.raises(FormatError, match="Give the request, which has all ratings"):
        germane.evaluate(run, run)


def test_judgments_are_documents(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(files / "trec.run")
    relevant = {"umbrella": [{"id": "p7", "text": "…"}, {"id": "p8"}], "red_shoes": [{"id": "p4"}]}
    judged = {q: [document["id"] for document in held] for q, held in relevant.items()}
    expected = evaluate(Path(store(files / "ids.json", judged)), run, capsys)
    assert evaluate(Path(store(files / "documents.json", relevant)), run, capsys) == expected
    nested = {q: [{"metadata": {"doc": d["id"]}} for d in held] for q, held in relevant.items()}
    path = Path(store(files / "nested.json", nested))
    assert cli.main(["evaluate", str(path), run]) == 2
    assert "--columns qrels.item=name" in capsys.readouterr().err
    assert evaluate(path, run, capsys, "--columns", "qrels.item=metadata.doc") == expected


def test_the_samples_of_ragas(files: Path) -> None:
    """One file has the ids of retrieved contexts and of those that are relevant."""
    rows = [
        {
            "user_input": query, "retrieved_contexts": ["…"], "reference_contexts": ["…"],
            "retrieved_context_ids": [item for item, _ in pairs],
            "reference_context_ids": [i for i, grade in QRELS[query].items() if grade],
            "response": "…", "reference": "…",
        }
        for query, pairs in SCORED.items()
    ]  # fmt: skip
    lists = {query: [item for item, _ in pairs] for query, pairs in SCORED.items()}
    judged = {row["user_input"]: row["reference_context_ids"] for row in rows}
    expected = germane.evaluate(judged, lists, MEASURES).flat()
    for path in (store(files / "r.jsonl", rows), store(files / "r.json", rows)):
        assert germane.evaluate(path, path, MEASURES).flat() == expected


REFUSED: dict[str, tuple[Any, str]] = {
    "one response": (elastic(SCORED["umbrella"]), "1 list of hits and does not name the queries"),
    "an error": (
        {"umbrella": {"error": {"type": "index_not_found", "reason": "no index"}, "status": 404}},
        "query 'umbrella': the response is an error",
    ),
    "an error among others": (
        {"red shoes": elastic(SCORED["red shoes"]), "umbrella": {"error": {"type": "x"}}},
        "query 'umbrella': the response is an error",
    ),
    "two queries in one": ({"umbrella": ALL["_msearch"]}, "the response answers 2 queries"),
    "a query twice": (
        [{"query": "umbrella", "hits": points([("a", 1.0)])}] * 2,
        "query 'umbrella' has the responses 1 and 2",
    ),
    "a query without a name": (
        [{"query": "umbrella", "hits": points([("a", 1.0)])}, {"hits": points([("a", 1.0)])}],
        "response 2: no field names the query",
    ),
    "no id": ({"umbrella": {"hits": [{"title": "a", "score": 1.0}]}}, "a hit has no id; found"),
    "another thing": ({"a": elastic(SCORED["umbrella"]), "b": {"x": 3}}, "no list of hits; found 'x'"),
    "unknown": (
        {"umbrella": {"found": 1, "grouped_hits": [{"group_key": ["a"], "hits": []}]}},
        "no response that germane knows; found 'found', 'grouped_hits'",
    ),
    "unknown in lines": (
        [{"query": "umbrella", "response": {"grouped": {"field": {"groups": []}}}}],
        "response 1: this is no response that germane knows; found 'grouped'",
    ),
    "pairs": ({"umbrella": [[{"id": "a", "page_content": "…"}, 0.5]]}, "pairs of an item and a number"),
    "lengths": (
        {"umbrella": {"ids": [["a", "b"]], "distances": [[0.5]]}}, "differ in length"
    ),
    "sums": ({"umbrella": {"code": 0, "data": points([("a", 1.0)]), "topks": [2]}}, "adds up to 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, files: Path) -> None:
    raw, says = REFUSED[case]
    path = store(files / "r.json", raw)
    with pytest.raises((FormatError, DuplicateError)) as error:
        germane.evaluate(QRELS, path)
    assert str(error.value).startswith(path)
    assert says in str(error.value)
    with pytest.raises((FormatError, DuplicateError)) as error:
        germane.evaluate(QRELS, raw)
    assert str(error.value).startswith("run")
    assert says in str(error.value)


HOSTILE = {
    "a key twice in a hit": (
        '{"q": {"hits": {"hits": [{"_id": "a", "_id": "b", "_score": 1}]}}}',
        "has the key '_id' twice. Keep one of them.",
    ),
    "a query twice": ('{"q": {"hits": [{"id": "a"}]}, "q": {"hits": []}}', "the key 'q' twice"),
    "NaN": ('{"q": {"hits": [{"id": "a", "score": NaN}]}}', "a score must be a finite number"),
    "deep": ('{"q": {"hits": [' + "[" * 100_000, "nested too deeply"),
    "cut": ('{"q": {"hits": [{"id": "a"', "this is not JSON"),
    "a huge number": (
        '{"q": {"hits": [{"id": "a", "score": %s}]}}' % ("9" * 5000), "must be a finite number"
    ),
    "ids that are objects": ('{"q": {"hits": [{"id": {"$oid": "a"}}]}}', "is neither text nor a number"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files(case: str, files: Path) -> None:
    text, says = HOSTILE[case]
    path = files / "r.json"
    path.write_text(text)
    with pytest.raises(germane.errors.InputError) as error:
        germane.evaluate({"q": ["a"]}, path)
    assert says in str(error.value)
    assert str(path) in str(error.value)
    lines = files / "r.jsonl"
    lines.write_text('{"query": "p", "hits": []}\n' + text + "\n")
    with pytest.raises(germane.errors.InputError) as error:
        germane.evaluate({"q": ["a"]}, lines)
    assert str(lines) in str(error.value)


def test_the_advice_for_ids_within_others_works(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = {q: [{"payload": {"sku": i}, "score": s} for i, s in p] for q, p in SCORED.items()}
    run = store(files / "r.json", {q: {"hits": held} for q, held in lists.items()})
    assert cli.main(["evaluate", str(files / "qrels.json"), run]) == 2
    said = capsys.readouterr().err
    assert "--columns run.item=name" in said
    assert "such as payload.sku" in said
    option = ["--columns", "run.item=payload.sku"]
    trec = evaluate(files / "qrels.txt", str(files / "trec.run"), capsys)
    assert evaluate(files / "qrels.json", run, capsys, *option) == trec
    table = files / "qrels.tsv"  # whose column of items keeps its own name
    table.write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(
            f"{q}\t{item}\t{grade}\n" for q, held in QRELS.items() for item, grade in held.items()
        )
    )
    named = ["--columns", "run.item=payload.sku,qrels.relevance=score"]
    assert evaluate(table, run, capsys, *named) == trec


def test_questions_in_rows_and_documents_in_fields(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several chunks of a document: the best one counts. The advice names the option that does it."""
    rows = [
        {
            "question": query,
            "response": {"hits": {"hits": [
                {"_id": f"{i}#{n}", "_score": s - n / 8, "_source": {"doc": i}}
                for i, s in pairs for n in range(2)
            ]}},
        }
        for query, pairs in SCORED.items()
    ]  # fmt: skip
    run = store(files / "r.jsonl", rows)
    option = ["--columns", "run.item=_source.doc"]
    assert cli.main(["evaluate", str(files / "qrels.json"), run, *option]) == 2
    said = capsys.readouterr().err
    assert "--duplicates max keeps its best hit" in said
    assert "--duplicates first keeps its first copy" in said
    trec = evaluate(files / "qrels.txt", str(files / "trec.run"), capsys)
    assert evaluate(files / "qrels.json", run, capsys, *option, "--duplicates", "max") == trec
    wrong = ["--columns", "run.item=doc"]
    assert cli.main(["evaluate", str(files / "qrels.json"), run, *wrong]) == 2
    assert "_source.doc" in capsys.readouterr().err
    ids = files / "ids.csv"
    ids.write_text("question\n" + "".join(f"{query}\n" for query in QUERIES))
    assert germane.evaluate(QRELS, ALL["_msearch"], MEASURES, query_ids=ids).flat() == EXPECTED
    ids.write_text("question_id,text\n" + "".join(f"{query},…\n" for query in QUERIES))
    found = germane.evaluate(QRELS, ALL["_msearch"], MEASURES, query_ids=ids)
    assert found.flat() == EXPECTED


def test_chunks_of_documents(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunks = {q: elastic([(f"{i}#1", s) for i, s in pairs]) for q, pairs in SCORED.items()}
    documents = files / "documents.csv"
    items = {item for pairs in SCORED.values() for item, _ in pairs}
    documents.write_text("item,group\n" + "".join(f"{item}#1,{item}\n" for item in items))
    run, option = store(files / "r.json", chunks), ["--collapse", str(documents)]
    trec = evaluate(files / "qrels.txt", str(files / "trec.run"), capsys)
    assert evaluate(files / "qrels.json", run, capsys, *option) == trec


def test_integers_are_their_digits(files: Path) -> None:
    run = store(files / "r.json", {"3": {"points": [{"id": 7, "score": 1.0}]}})
    assert germane.evaluate({3: {7: 1}}, run, "RR")["RR"].mean == 1
    raw = {3: {"points": [{"id": 7, "score": 1.0}]}}
    assert germane.evaluate({3: {7: 1}}, raw, "RR")["RR"].mean == 1
    by_number = germane.evaluate({3: {7: 1}}, [{"query_id": 3, "hits": [{"id": 7}]}], "RR")
    assert by_number["RR"].mean == 1


def test_queries_and_items_called_like_fields(files: Path) -> None:
    """A run whose query is called hits, results or data is a run."""
    for name in ("hits", "results", "data", "result", "responses", "error", "points"):
        for held in (["d1"], {"d1": 1.0}, {"hits": 2.0, "ids": 3.0, "d1": 4.0}):
            run: Any = {name: held, "q": held}
            if name == "responses" and isinstance(held, list):
                continue
            for form in (run, store(files / "r.json", run)):
                assert germane.evaluate({name: ["d1"]}, form, "RR")["RR"].mean == 1, (name, held)


def test_objects_of_clients() -> None:
    """Objects with attributes, and those of Elasticsearch's client, which have a body."""
    response = SimpleNamespace(points=[SimpleNamespace(id="p7", score=0.5, payload=None)])
    body = SimpleNamespace(body=elastic(SCORED["umbrella"]), meta=None)
    for given in (response, body):
        assert germane.evaluate(QRELS, {"umbrella": given}, "RR")["RR"].per_query["umbrella"] == 1
    batch = germane.evaluate({"a": ["p7"]}, [response], "RR", query_ids=["a"])
    assert batch["RR"].mean == 1


def test_predictions_of_mteb(tmp_path: Path) -> None:
    """As mteb 2.26 writes them: the model, and then subset → split → query → item → score."""
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d3": 0.2, "d9": 0.7}}
    meta = {"mteb_model_meta": {"model_name": "m", "revision": "r"}}
    path, judged = tmp_path / "predictions.json", tmp_path / "qrels.json"
    judged.write_text(json.dumps(qrels))
    one = {**meta, "default": {"test": run}}
    path.write_text(json.dumps(one))
    assert germane.evaluate(judged, path, "RR")["RR"].mean == 0.75
    assert germane.evaluate(qrels, one, "RR")["RR"].mean == 0.75
    several = {**meta, "en": {"test": run}, "de": {"test": {}}}
    with pytest.raises(
        FormatError, match=r"Give run\['en'\]\['test'\] or run\['de'\]\['test'\]\.$"
    ):
        germane.evaluate(qrels, several, "RR")
    assert germane.evaluate(qrels, several["en"]["test"], "RR")["RR"].mean == 0.75
    path.write_text(json.dumps(several))
    with pytest.raises(FormatError, match="of several subsets or splits") as raised:
        germane.evaluate(judged, path, "RR")
    [advice] = re.findall(r"such as with (json\.dump.*)\.$", str(raised.value))
    key = re.search(r"\)\)((?:\['\w+'\])+), open\('run\.json', 'w'\)\)$", advice)
    assert key is not None, advice
    assert key[1] == "['en']['test']"
    with pytest.raises(germane.errors.EmptyError, match="without any run"):
        germane.evaluate(qrels, meta, "RR")


def test_samples_of_ragas_in_memory() -> None:
    sample = {
        "user_input": "why", "reference_context_ids": ["c1"], "retrieved_context_ids": ["c2", "c1"],
    }  # fmt: skip
    assert germane.evaluate([sample], [sample], "RR")["RR"].mean == 0.5


@pytest.mark.parametrize(
    "error",
    [
        {"status": {"error": "Not found: Collection"}, "time": 0.1},  # Qdrant
        {"code": 3, "message": "Vector dimension 3 does not match", "details": []},  # Pinecone
        {"error": "NotFoundError", "message": "Collection x does not exist"},  # Chroma
        {"code": 100, "message": "can't find collection"},  # Milvus
        {"responseHeader": {"status": 400}, "error": {"msg": "undefined field", "code": 400}},  # Solr
        {"message": "Not found."},  # Typesense
        {"message": "…", "code": "index_not_found", "type": "invalid_request", "link": "…"},  # Meilisearch
        {"errors": [{"message": "no such class", "path": ["Get"]}]},  # Weaviate
        {"data": {"Get": {"Shoe": None}}, "errors": [{"message": "…"}]},
        {"root": {"id": "toplevel", "fields": {"totalCount": 0}, "errors": [{"code": 12}]}},  # Vespa
    ],
)  # fmt: skip
def test_errors_of_engines_are_told(error: dict[str, Any]) -> None:
    for run in (
        {"umbrella": error},
        {"red shoes": elastic(SCORED["red shoes"]), "umbrella": error},
    ):
        with pytest.raises(FormatError, match=r"query 'umbrella': the response is an error, "):
            germane.evaluate(QRELS, run, "RR")


def test_an_answer_of_vespa_may_be_empty() -> None:
    empty = {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}}
    run = {"red shoes": ONE["vespa"](SCORED["red shoes"]), "umbrella": empty}
    assert germane.evaluate(QRELS, run, "RR")["RR"].per_query == {"red shoes": 1 / 2, "umbrella": 0}


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"timed_out": True}, "timed_out"),
        ({"_shards": {"total": 2, "successful": 1, "failed": 1}}, "_shards.failed"),
    ],
)
def test_hits_of_a_part_of_the_shards_are_refused(part: dict[str, Any], path: str) -> None:
    """A search that timed out has the hits of some shards, and looks like any other."""
    whole = elastic([("a", 2.0), ("b", 1.0)])
    qrels = {"q": {"b": 1}}
    for response in ({**whole, **part}, {"took": 1, "responses": [{**whole, **part}]}):
        with pytest.raises(FormatError, match=f"the search did not finish, {path} is") as raised:
            germane.evaluate(qrels, {"q": response}, "RR")
        assert "{query: [hit, …]}" in str(raised.value)
    assert germane.evaluate(qrels, {"q": whole}, "RR")["RR"].mean == 1 / 2
    assert germane.evaluate(qrels, {"q": whole["hits"]["hits"]}, "RR")["RR"].mean == 1 / 2


def test_partial_responses_of_solr_and_vespa_are_refused() -> None:
    docs = [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}]
    header = {"status": 0, "partialResults": True}
    solr = {"responseHeader": header, "response": {"numFound": 2, "docs": docs}}
    children = [{"id": one["id"], "relevance": one["score"]} for one in docs]
    vespa = {"root": {"coverage": {"full": False, "coverage": 50}, "children": children}}
    for response in (solr, vespa):
        with pytest.raises(FormatError, match="did not finish"):
            germane.evaluate({"q": {"b": 1}}, {"q": response}, "RR")
    header["partialResults"] = False
    vespa["root"]["coverage"] = {"full": True}
    for response in (solr, vespa):
        assert germane.evaluate({"q": {"b": 1}}, {"q": response}, "RR")["RR"].mean == 1 / 2
