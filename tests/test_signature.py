"""Signatures, records and their verification: the data of a number are found again in any form."""

import contextlib
import gzip
import json
import pickle
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import germane
from germane import cli

ROOT = Path(__file__).parents[1]
DRAW = random.Random(20)
QRELS = {
    str(100 + q): {f"d{i}ü": DRAW.choice([0, 1, 2, 1, -1]) for i in DRAW.sample(range(50), 25)}
    for q in range(20)
}
RUN = {
    query: {f"d{i}ü": DRAW.choice([DRAW.random(), float(DRAW.randrange(-3, 4))]) for i in range(40)}
    for query in QRELS
}
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs/record.schema.json").read_text("utf-8")))


def make_lines(data: dict[str, dict[str, float]], kind: str) -> list[str]:
    rows = [(query, item, number) for query, held in data.items() for item, number in held.items()]
    if kind == "qrels":
        return [f"{query} 0 {item} {number}" for query, item, number in rows]
    return [f"{query} Q0 {item} 1 {number!r} tag" for query, item, number in rows]


def make_frame(data: dict[str, dict[str, float]], kind: str) -> pd.DataFrame:
    rows = [(query, item, number) for query, held in data.items() for item, number in held.items()]
    name = "relevance" if kind == "qrels" else "score"
    return pd.DataFrame(rows, columns=["query", "item", name])


def list_forms(data: dict[str, dict[str, float]], kind: str, folder: Path) -> Iterator[Any]:
    """The same data in twelve forms."""
    lines, frame = make_lines(data, kind), make_frame(data, kind)
    turned = DRAW.sample(lines, len(lines))
    for name, text in {
        "plain.txt": "\n".join(lines) + "\n",
        "windows.txt": "\r\n".join(lines) + "\r\n",
        "tabs.txt": "\n".join("\t".join(line.split()) for line in lines),
        "turned.txt": "\n".join(turned),
    }.items():
        path = folder / f"{kind}-{name}"
        path.write_bytes(text.encode())
        yield path
    path = folder / f"{kind}.gz"
    path.write_bytes(gzip.compress("\n".join(turned).encode()))
    yield path
    frame.to_parquet(folder / f"{kind}.parquet")
    yield folder / f"{kind}.parquet"
    frame.sample(frac=1, random_state=1).to_csv(folder / f"{kind}.csv", index=False)
    yield folder / f"{kind}.csv"
    (folder / f"{kind}.json").write_text(json.dumps(data))
    yield folder / f"{kind}.json"
    yield data
    yield {query: dict(reversed(held.items())) for query, held in reversed(data.items())}
    yield {int(query): held for query, held in data.items()}  # ids as their text
    yield frame
    yield pl.DataFrame(frame).with_columns(pl.col("item").cast(pl.Categorical))


def sign(qrels: Any, run: Any, **options: Any) -> germane.types.Signature:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return germane.evaluate(qrels, run, "AP@10", **options).signature("AP@10")


def test_one_fingerprint_for_all_forms(tmp_path: Path) -> None:
    for kind in ("qrels", "run"):
        data: Any = QRELS if kind == "qrels" else RUN
        found = set()
        for form in list_forms(data, kind, tmp_path):
            other: Any = RUN if kind == "qrels" else QRELS
            if isinstance(form, dict) and isinstance(next(iter(form)), int):
                other = {int(query): held for query, held in other.items()}
            pair = (form, other) if kind == "qrels" else (other, form)
            found.add(getattr(sign(*pair), kind))
        assert len(found) == 1
        assert None not in found


def test_every_change_gives_another_fingerprint() -> None:
    seen_qrels, seen_runs = {sign(QRELS, RUN).qrels}, {sign(QRELS, RUN).run}
    changes = 0
    for query in list(QRELS)[:5]:
        for item in list(QRELS[query])[:5]:
            changed = {**QRELS, query: {**QRELS[query], item: QRELS[query][item] + 1}}
            seen_qrels.add(sign(changed, RUN).qrels)
            item = next(iter(RUN[query]))
            del (fewer := dict(RUN[query]))[item]
            near = {**RUN[query], item: np.nextafter(RUN[query][item], 9.0)}
            seen_runs |= {sign(QRELS, {**RUN, query: one}).run for one in (near, fewer)}
            changes += 1
    assert len(seen_qrels) == changes + 1
    assert len(seen_runs) == 2 * 5 + 1  # the first item of five queries


def test_numbers_are_those_that_are_compared() -> None:
    qrels = {"q": {"a": 1}}
    whole, real = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": -0.0}}
    assert sign(qrels, whole).run == sign(qrels, real).run
    big = 2**53
    assert (
        sign(qrels, {"q": {"a": big, "b": 3}}).run
        == sign(qrels, {"q": {"a": float(big), "b": 3}}).run
    )


def test_places_are_the_content_of_lists_without_scores() -> None:
    qrels = {"q": ["a"], "r": ["b"]}
    one = sign(qrels, {"q": ["a", "b"], "r": ["b"]}).run
    frame = pd.DataFrame({"query": ["r", "q", "q"], "item": ["b", "b", "a"], "rank": [7, 5, 2]})
    assert sign(qrels, frame).run == one
    assert sign(qrels, {"q": ["b", "a"], "r": ["b"]}).run != one
    assert sign(qrels, {"q": {"a": 2.0, "b": 1.0}, "r": {"b": 1.0}}).run != one


def test_a_fingerprint_is_of_the_data_and_not_of_conventions() -> None:
    expected = sign(QRELS, RUN)
    for options in (
        {"ties": "best"},
        {"grades": "ones"},
        {"grades": "nonnegative"},
        {"scores": "single"},
        {"unjudged": "remove"},
    ):
        found = sign(QRELS, RUN, **options)
        assert (found.qrels, found.run) == (expected.qrels, expected.run), options
    result = germane.evaluate(QRELS, RUN, "RR", dialect="trec_eval-9")
    assert (result.fingerprint or "").startswith(expected.qrels or "none")


def test_subtopics_and_their_weights_count() -> None:
    run = {"q": ["a", "b"]}

    def find(qrels: Any, **options: Any) -> str | None:
        result = germane.evaluate(qrels, run, "StRecall@2", **options)
        return result.fingerprint

    one = find({"q": {"a": {"s": 1}, "b": {"t": 1}}})
    assert find({"q": {"b": {"t": 1}, "a": {"s": 1}}}) == one
    assert find({"q": {"a": {"t": 1}, "b": {"s": 1}}}) != one
    assert find({"q": {"a": {"s": 1, "t": 1}, "b": {"t": 1}}}) != one


def test_batches_and_parts_add_up() -> None:
    whole = sign(QRELS, RUN)
    parts = []
    for start in range(0, 20, 7):
        one = germane.Evaluator(QRELS, "AP@10", sign="run")
        for query in list(RUN)[start : start + 7]:
            one.update({query: RUN[query]})
        parts.append(pickle.loads(pickle.dumps(one)))
    merged = reduce(germane.Evaluator.merge, DRAW.sample(parts, len(parts)))
    assert str(merged.result().signature("AP@10")) == str(whole)
    plain = germane.Evaluator(QRELS, "AP@10")
    plain.update(RUN)
    assert plain.result().signature("AP@10").run is None
    with pytest.raises(germane.errors.PolicyError, match="differ in sign"):
        plain.merge(parts[0])
    with pytest.raises(germane.errors.InputError, match="sign=run hashes all rows"):
        germane.Evaluator(QRELS, twice="first", sign="run")


def test_flat_arrays_have_the_places_of_items_as_ids() -> None:
    grades, scores = np.array([1, 0, 2, 0, 0, 1]), np.array([0.5, 0.25, 0.125, 3.0, 2.0, 1.0])
    result = germane.evaluate(grades, scores, "RR", group=[3, 3])
    run = {0: {0: 0.5, 1: 0.25, 2: 0.125}, 1: {3: 3.0, 4: 2.0, 5: 1.0}}
    same = germane.evaluate({0: {0: 1, 2: 2}, 1: {5: 1}}, run, "RR")
    assert result.run_fingerprint == same.run_fingerprint is not None
    assert result.fingerprint == same.fingerprint


def test_lines_of_queries_with_a_number_sign(tmp_path: Path) -> None:
    """They are content where their query is judged, however the run is read; else comments."""
    qrels, path = tmp_path / "qrels", tmp_path / "a.run"
    qrels.write_text("#c 0 d1 1\nq 0 d2 1\n# a comment\n")
    path.write_text("#c Q0 d1 1 2.0 t\nq Q0 d2 1 1.0 t\n# made in 2024 4 5\n")
    run = {"#c": {"d1": 2.0}, "q": {"d2": 1.0}}
    judged = {"#c": {"d1": 1}, "q": {"d2": 1}}
    found = set()
    for its in (qrels, judged):
        found |= {sign(its, one).run for one in (path, germane.read_run(path), run)}
    evaluator = germane.Evaluator(judged, "RR", sign="run")
    evaluator.update(path)
    found.add(evaluator.result().signature("RR").run)
    hashed = subprocess.run(
        [sys.executable, "-m", "germane", "evaluate", str(qrels), str(path), "--format=json"],
        capture_output=True, check=True,
    )  # fmt: skip
    found.add(json.loads(hashed.stdout)["runs"][0]["fingerprints"]["run"][:16])
    assert len(found) == 1
    few = {"q": {"d2": 1}}
    assert (
        sign(few, path).run
        == sign(few, germane.read_run(path)).run
        == sign(few, {"q": run["q"]}).run
    )


GROUPS = {f"d{i}ü": f"g{i // 2}" for i in range(50)}
EXCLUDED = {"100": ["d1ü", "d2ü"], "101": ["d3ü"]}
KEPT = {query: list(held)[:30] for query, held in RUN.items()}


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ({"exclude": EXCLUDED}, {"exclude": {**EXCLUDED, "100": ["d1ü"]}}),
        ({"only": KEPT}, {"only": {**KEPT, "100": []}}),
        ({"collapse": GROUPS}, {"collapse": {**GROUPS, "unused": "g0"}}),
        ({"exclude": EXCLUDED, "only": KEPT}, {"exclude": EXCLUDED}),
    ],
)
def test_options_that_are_data_are_in_a_record(options: Any, others: Any) -> None:
    result = germane.evaluate(QRELS, RUN, "P@5", **options)
    record = json.loads(json.dumps(result.to_dict()))
    SCHEMA.validate(record)
    signature = str(result.signature("P@5"))
    assert germane.types.Signature.read(signature) == result.signature("P@5")
    assert pickle.loads(pickle.dumps(result)).option_fingerprints == result.option_fingerprints
    for one in (record, signature):
        assert germane.verify(one, QRELS, RUN, **options).same
        [name] = [name for name in options if options[name] != others.get(name)]
        says = germane.verify(one, QRELS, RUN).differences
        assert any(f"the record was made with {name}=, which is missing" in line for line in says)
        says = germane.verify(one, QRELS, RUN, **others).differences
        word = "has different content" if name in others else "which is missing"
        assert any(f"{name}=" in line and word in line for line in says)
    plain = germane.evaluate(QRELS, RUN, "P@5")
    [says] = germane.verify(plain, QRELS, RUN, collapse=str).differences[:1]
    assert says == "run: collapse= is given, but the record was made without it"
    assert set(result.option_fingerprints) == set(options)


def test_options_have_one_fingerprint_in_every_form(tmp_path: Path) -> None:
    pairs = pd.DataFrame(
        [(q, d) for q, held in EXCLUDED.items() for d in held], columns=["query", "item"]
    )
    pairs.to_csv(tmp_path / "x.csv", index=False)
    groups = pd.DataFrame(reversed(list(GROUPS.items())), columns=["item", "group"])
    groups.to_parquet(tmp_path / "g.parquet")
    for name, forms in {
        "exclude": (
            EXCLUDED,
            pairs,
            tmp_path / "x.csv",
            {q: set(held) for q, held in EXCLUDED.items()},
        ),
        "collapse": (GROUPS, groups, tmp_path / "g.parquet"),
    }.items():
        found = {
            germane.evaluate(QRELS, RUN, "P@5", **{name: one}).option_fingerprints[name]  # type: ignore[arg-type]
            for one in forms
        }
        assert len(found) == 1
    grades, scores = np.array([[1, 0, 2]]), np.array([[0.5, 0.25, 0.75]])
    mask = germane.evaluate(grades, scores, "RR", exclude=np.array([[True, False, True]]))
    lists = germane.evaluate(grades, scores, "RR", exclude={0: [0, 2]})
    assert mask.option_fingerprints == lists.option_fingerprints


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("exclude", EXCLUDED, {**EXCLUDED, "101": ["d4ü"]}),
        ("collapse", GROUPS, {**GROUPS, "d9ü": "g0"}),
    ],
)
def test_evaluators_of_other_options_are_not_merged(name: str, one: Any, other: Any) -> None:
    """Also where their shape is the same."""
    first, second = (germane.Evaluator(QRELS, "P@5", **{name: given}) for given in (one, other))  # type: ignore[arg-type]
    with pytest.raises(germane.errors.PolicyError, match=f"differ in {name}: "):
        first.merge(second)
    second.update({"100": RUN["100"]})
    with pytest.raises(germane.errors.PolicyError, match=f"differs in {name}: "):
        first.add(second.reduce({"101": RUN["101"]}))
    first.merge(germane.Evaluator(QRELS, "P@5", **{name: dict(reversed(one.items()))}))


def test_a_function_has_no_fingerprint() -> None:
    result = germane.evaluate(QRELS, RUN, "P@5", collapse=lambda item: item[:2])
    assert result.option_fingerprints == {"collapse": None}
    assert ", collapse unknown |" in str(result.signature("P@5"))
    assert pickle.loads(pickle.dumps(result)).option_fingerprints == {"collapse": None}
    assert germane.verify(result, QRELS, RUN, collapse=lambda item: item[:2]).same
    assert not germane.verify(result, QRELS, RUN).same


def test_what_the_catalogue_needs_is_in_a_record() -> None:
    options: Any = {
        "catalogue": list(GROUPS),
        "seen": EXCLUDED,
        "distance": {d: [1.0, i] for i, d in enumerate(GROUPS)},
    }
    result = germane.evaluate(QRELS, RUN, "Coverage@10", **options)
    assert germane.verify(result, QRELS, RUN, **options).same
    for name, other in {
        "catalogue": 50,
        "seen": {"100": ["d1ü"]},
        "distance": {d: [1.0] for d in GROUPS},
    }.items():
        says = germane.verify(result, QRELS, RUN, **{**options, name: other}).differences
        assert f"run: {name}= has different content" in says[0]


def test_a_run_that_is_gone_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("\n".join(make_lines(RUN, "run")))
    first, second = (germane.evaluate(QRELS, str(path), "RR") for _ in range(2))
    assert first.run_fingerprint is not None
    path.write_text("q Q0 d 1 1 t\n")
    assert second.run_fingerprint is None
    assert ", run unknown |" in str(second.signature("RR"))
    assert first.signature("RR").run is not None
    assert pickle.loads(pickle.dumps(first)).run_fingerprint == first.run_fingerprint


# --- Signatures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("AP@10", {}),
        ("nDCG(gain=0:0_1:1_2:5)@10", {"ties": "expected"}),
        ("P(rel=2)@5", {"depth": 7, "missing": "skip", "unjudged": "remove"}),
        ("RBP(p=0.95)", {"min_score": 0.25}),
        ("RR", {"dialect": "trec_eval-9"}),
        ("NumRet", {}),
    ],
)
def test_signatures_are_read_back(measure: str, options: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = germane.evaluate(QRELS, RUN, measure, **options)
    for tools in ("none", "same"):
        signature = result.signature(measure, tools=tools)  # type: ignore[arg-type]
        assert germane.types.Signature.read(str(signature)) == signature
        line = str(signature)
        for pasted in (
            f"`{line}`\n", f"> {line}", f"- {line}", f"lda: {line}", f"a | b = c: {line}", f"| {line} |",
            line.replace(" ", "  "), line.replace(" ", "\u00a0"), line.replace(" | ", "\n| "), line.replace(" | ", "|"), line.replace("|", "\\textbar{}"),
            line.replace("|", "\\|").replace("_", "\\_"), "\ufeff" + line.replace("=", "\uff1d"), line + ".",
        ):  # fmt: skip
            assert germane.types.Signature.read(pasted) == signature
    assert germane.verify(str(signature), QRELS, RUN).same


def test_defaults_are_written_out() -> None:
    line = str(sign({"q": {"d": 1}}, {"q": {"d": 1}}))
    head, words, data, version = line.split(" | ")
    assert head == "AP@10 = 1.0000"
    assert words == (
        "rel=1 norm=min mean=arithmetic duplicates=error ties=trec missing=zero unjudged=nonrelevant no_relevant=zero"
    )
    assert data.startswith("1 query, qrels ")
    assert version == f"germane {germane.__version__}"


def test_no_parameter_has_the_name_of_a_convention() -> None:
    """Or a signature could not be read back."""
    words = set(germane.Policy().__dict__)
    for one in germane.measures():
        assert not words & {parameter.name for parameter in one.row.parameters}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("AP@10 = 0.5", "not a signature"),
        (
            "AP@10 = high | norm=min | 2 queries, qrels abcd, run abcd",
            "begins with MEASURE = NUMBER",
        ),
        (
            "AP@10 = 0.5 | norm=minn | 2 queries, qrels abcd, run abcd",
            "takes R, min, .* got 'minn'",
        ),
        ("AP@10 = 0.5 | tie=trec | 2 queries, qrels abcd, run abcd", "no parameter 'tie'"),
        ("AP@10 = 0.5 | ties=some | 2 queries, qrels abcd, run abcd", "ties takes"),
        ("AP@10 = 0.5 | ties=trec | 2 queries, qrels xyz, run abcd", "hexadecimal"),
        ("APP@10 = 0.5 | ties=trec | 2 queries, qrels abcd, run abcd", "unknown measure 'APP@10'"),
        (
            "AP@10 = 0.5 | ties=trec ties=best | 2 queries, qrels abcd, run abcd",
            "states 'ties' once",
        ),
        ("AP@10 = 0.5 | ties=trec | 2 queries | ties=best | 3 queries", "only one part for words"),
        ("AP(norm=R)@10 = 0.5 | norm=min | 2 queries, qrels abcd, run abcd", "states norm once"),
        (
            "AP@10 = 0.5 | what is this | 2 queries, qrels abcd, run abcd",
            "does not belong in a signature",
        ),
    ],
)
def test_other_texts_are_refused(text: str, says: str) -> None:
    with pytest.raises(germane.GermaneError, match=says):
        germane.types.Signature.read(text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_read_or_refused(one: str, other: str) -> None:
    with contextlib.suppress(germane.GermaneError):
        germane.types.Signature.read(f"{one} = {other} | {one} | {other}")


# --- Records ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text("\n".join(make_lines(QRELS, "qrels")))
    head = "# ir_metadata.start\n# platform:\n#   hardware: none\n# ir_metadata.end\n"
    (tmp_path / "a.run").write_text(head + "\n".join(make_lines(RUN, "run")))
    other = {query: dict(held) for query, held in RUN.items()}
    for query in list(other)[:3]:
        other[query] = {item: -score for item, score in other[query].items()}
    (tmp_path / "b.run").write_text("\n".join(make_lines(other, "run")))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = cli.main(arguments)
    return status, capsys.readouterr().out


@pytest.mark.parametrize("more", [[], ["--per-query"], ["--dialect=trec_eval-9"]])
def test_records_have_the_schema_and_verify(
    files: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    asked = ["evaluate", "qrels.txt", "a.run", "b.run", "--record=r.json", *more]
    assert call(capsys, *asked)[0] == 0
    record = json.loads((files / "r.json").read_text("utf-8"))
    SCHEMA.validate(record)
    assert record["runs"][0]["ir_metadata"] == "platform:\n  hardware: none\n"
    lazily = germane.evaluate_many(
        "qrels.txt",
        {"a": "a.run", "b": "b.run"},
        "AP",
        **({"dialect": "trec_eval-9"} if "trec" in str(more) else {}),
    )
    for run in record["runs"]:  # hashed while the file was reduced, or when asked for
        assert run["fingerprints"]["run"] == lazily[run["name"]].run_fingerprint
    assert call(capsys, "verify", "r.json", "qrels.txt", "a.run", "b.run")[0] == 0
    assert call(capsys, "verify", "r.json", "qrels.txt", "b.run", "a.run")[0] == 0  # by their names


def test_what_is_wrong_is_not_in_the_schema(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The schema refuses what a reader could not read."""
    call(capsys, "evaluate", "qrels.txt", "a.run", "--record=r.json")
    record = json.loads((files / "r.json").read_text("utf-8"))
    for change in (
        {"schema": 2},
        {"runs": []},
        {"runs": [{**record["runs"][0], "fingerprints": {"run": "xyz"}}]},
        {"runs": [{"name": "a"}]},
    ):
        assert list(SCHEMA.iter_errors({**record, **change}))


def test_verify_says_what_differs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "evaluate", "qrels.txt", "a.run", "-m", "AP@10", "--per-query", "--record=r.json")
    for path in ("a.run", "b.run"):
        status, out = call(capsys, "verify", "r.json", "qrels.txt", path)
        assert status == (path == "b.run")
    assert "the run is a different one: 3 of 20 queries have different results" in out

    changed = {**QRELS, "100": {**QRELS["100"], "more": 1}}
    (files / "more.txt").write_text("\n".join(make_lines(changed, "qrels")))
    status, out = call(capsys, "verify", "r.json", "more.txt", "a.run")
    assert status == 1
    assert "the judgments are different: qrels " in out

    status, out = call(capsys, "verify", "r.json", "qrels.txt", "a.run", "--missing=skip")
    assert status == 1
    assert "`missing` differs, but the value is the same" in out

    status, out = call(capsys, "verify", "r.json", "qrels.txt", "a.run", "b.run")
    assert status == 2  # two runs where the record has one


def test_verify_finds_the_definition_of_a_wrong_value(files: Path) -> None:
    tied = {
        query: {item: round(score) for item, score in held.items()} for query, held in RUN.items()
    }
    best = str(sign(QRELS, tied, ties="best"))
    found = germane.verify(best.replace("ties=best", "ties=trec"), QRELS, tied)
    assert not found.same
    assert "on the same data: " in found.differences[0]
    assert "`ties` differs, ties=best gives the recorded value" in found.differences[0]
    other = str(sign(QRELS, RUN)).replace("norm=min", "norm=R")
    assert (
        "`norm` differs, AP@10 has the recorded value"
        in germane.verify(other, QRELS, RUN).differences[0]
    )
    wrong = str(sign(QRELS, RUN)).replace("= 0.", "= 0.00")
    assert "differs" not in germane.verify(wrong, QRELS, RUN).differences[0]


def test_a_wrong_value_of_one_query_is_found() -> None:
    record = germane.evaluate_many(QRELS, {"a": RUN}, "AP@10").to_dict(queries=True)
    assert germane.verify(record, QRELS, RUN).same
    record["runs"][0]["queries"]["100"]["AP@10"] += 0.25
    *_, says = germane.verify(record, QRELS, RUN).differences
    assert "the mean is the same, but single values differ: 1 of 20 queries" in says


def test_records_without_fingerprints_are_read() -> None:
    """As versions before this one wrote them, and others may."""
    record = germane.evaluate_many(QRELS, {"a": RUN}, "AP@10 RR").to_dict(queries=True)
    for run in record["runs"]:
        del run["fingerprints"]
        for one in run["measures"]:
            del one["signature"], one["parameters"]
    SCHEMA.validate(record)
    found = germane.verify(record, QRELS, RUN)
    assert found.same
    assert "the record has no fingerprint" in found.notes[0]
    record["runs"][0]["measures"][0]["mean"] += 0.125
    assert not germane.verify(record, QRELS, RUN).same


def test_kept_results_keep_fingerprints_and_definitions(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(
        capsys,
        "evaluate",
        "qrels.txt",
        "a.run",
        "--dialect=trec_eval-9",
        "--per-query",
        "--record=r.json",
    )
    kept = germane.read_results("r.json")["a"]
    fresh = germane.evaluate("qrels.txt", "a.run", dialect="trec_eval-9")
    assert (kept.fingerprint, kept.run_fingerprint) == (fresh.fingerprint, fresh.run_fingerprint)
    assert kept.metadata == fresh.metadata
    for measure in fresh:
        its = [one.policies.get(one[measure].measure, one.policy) for one in (kept, fresh)]
        assert its[0] == its[1]
        assert kept[measure].mean == fresh[measure].mean


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": 1, "runs": [{}]}', '{"schema": 1, "policy": {}, "runs": [3]}']
)
def test_other_files_are_no_records(
    files: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (files / "r.json").write_text(text)
    assert call(capsys, "verify", "r.json", "qrels.txt", "a.run")[0] == 2


def test_records_of_options_verify_on_the_command_line(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "x.txt").write_text("100 0 d1ü 1\n")
    (files / "y.txt").write_text("100 0 d2ü 1\n")
    asked = ["evaluate", "qrels.txt", "a.run", "-m", "P@5", "--exclude=x.txt", "--record=r.json"]
    assert call(capsys, *asked)[0] == 0
    assert call(capsys, "verify", "r.json", "qrels.txt", "a.run", "--exclude=x.txt")[0] == 0
    for more in ([], ["--exclude=y.txt"]):
        status, out = call(capsys, "verify", "r.json", "qrels.txt", "a.run", *more)
        assert status == 1
        assert "exclude=" in out


def test_compare_and_gate_print_signatures(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (
        ["compare", "qrels.txt", "a.run", "b.run"],
        ["compare", "qrels.txt", "a.run", "b.run", "--view=pairs"],
        ["gate", "qrels.txt", "a.run", "--baseline=b.run"],
    ):
        _, out = call(capsys, *verb, "-m", "AP@10 RR", "--signature")
        lines = [line for line in out.splitlines() if "| germane " in line]
        assert len(lines) == 4
        _, out = call(capsys, *verb, "-m", "AP@10 RR", "--format=json")
        assert json.loads(out)["signatures"] == lines
        for line in lines:
            run = "a.run" if line.startswith(("a: ", "run: ")) else "b.run"
            assert call(capsys, "verify", line, "qrels.txt", run)[0] == 0


def test_a_signature_is_not_dropped(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (["evaluate", "qrels.txt", "a.run"], ["compare", "qrels.txt", "a.run", "b.run"]):
        assert cli.main([*verb, "--signature", "--format=csv"]) == 2
        assert "csv has values alone" in capsys.readouterr().err


def test_different_data_are_refused_with_their_fingerprints(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(capsys, "evaluate", "qrels.txt", "a.run", "--per-query", "--record=r.json")
    (files / "more.txt").write_text((files / "qrels.txt").read_text("utf-8") + "\n100 0 more 1\n")
    assert cli.main(["gate", "more.txt", "a.run", "--baseline=r.json"]) == 2
    says = capsys.readouterr().err
    mine, its = (
        germane.evaluate("qrels.txt", "a.run", "RR"),
        germane.evaluate("more.txt", "a.run", "RR"),
    )
    for part in ("'r.json' and 'a.run'", mine.signature("RR").qrels, its.signature("RR").qrels):
        assert str(part) in says
    kept = germane.read_results("r.json")["a"]
    less = germane.evaluate("qrels.txt", "b.run", name="b", exclude=EXCLUDED)
    with pytest.raises(
        germane.errors.InputError, match=r"with different candidates \(no exclude; exclude "
    ):
        germane.compare([kept, less])
    one, other = (germane.Evaluator(path, "RR") for path in ("qrels.txt", "more.txt"))
    with pytest.raises(
        germane.errors.InputError, match=rf"'qrels' .{mine.signature('RR').qrels}. and 'more' "
    ):
        one.merge(other)


def test_signatures_stand_under_tables(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = call(
        capsys, "evaluate", "qrels.txt", "a.run", "b.run", "-m", "AP@10 RR", "--signature"
    )
    assert status == 0
    lines = [line for line in out.splitlines() if "| germane " in line]
    assert len(lines) == 4
    for line in lines:
        run = "a.run" if line.startswith("a: ") else "b.run"
        assert call(capsys, "verify", line, "qrels.txt", run)[0] == 0


def test_standard_input_is_hashed_while_it_is_read(files: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "germane", "evaluate", "qrels.txt", "-", "--format=json"],
        input=(files / "a.run").read_bytes(), capture_output=True, check=True,
    )  # fmt: skip
    run = json.loads(done.stdout)["runs"][0]
    assert (
        run["fingerprints"]["run"] == germane.evaluate("qrels.txt", "a.run", "RR").run_fingerprint
    )


def test_records_of_distances_and_of_stdin(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call(capsys, "evaluate", "qrels.txt", "a.run", "--scores=distances", "--record=r.json")
    assert call(capsys, "verify", "r.json", "qrels.txt", "a.run")[0] == 0
    done = subprocess.run(
        [sys.executable, "-m", "germane", "verify", "r.json", "qrels.txt", "-"],
        input=(files / "b.run").read_bytes(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert b"the run is a different one" in done.stdout


def test_runs_are_paired_by_name_or_order() -> None:
    other = {query: dict(reversed(held.items())) for query, held in RUN.items()} | {"100": {"x": 1}}
    record = germane.evaluate_many(QRELS, {"a": RUN, "b": other}, "AP@10")
    assert germane.verify(record, QRELS, {"b": other, "a": RUN}).same
    assert germane.verify(record, QRELS, {"first": RUN, "second": other}).same
    assert not germane.verify(record, QRELS, {"first": other, "second": RUN}).same
    with pytest.raises(germane.errors.InputError, match="the record has 2 runs"):
        germane.verify(record, QRELS, RUN)
    with pytest.raises(
        germane.errors.InputError, match="a record is a path, a signature or results"
    ):
        germane.verify(3, QRELS, RUN)
    one = germane.evaluate(QRELS, RUN, "AP@10")
    for record in (one, one.signature("AP@10"), one.to_dict()):  # type: ignore[assignment]
        assert germane.verify(record, QRELS, RUN).same
        assert germane.verify(record, QRELS, {"a": RUN}).same


def test_what_verify_cannot_compare_is_refused() -> None:
    record = germane.evaluate(QRELS, RUN, "AP@10").to_dict()
    for change, says in (
        ({"runs": []}, "without runs"),
        ({"runs": [{**record["runs"][0], "measures": []}]}, "without measures"),
    ):
        with pytest.raises(germane.errors.FormatError, match=says):
            germane.verify({**record, **change}, QRELS, RUN)
    with pytest.raises(germane.errors.InputError, match="verify takes no dialect="):
        germane.verify(record, QRELS, RUN, dialect="ranx")  # type: ignore[call-arg]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
)


def spoil(record: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """A value anywhere in a record is replaced by any other."""
    at: Any = record
    while True:
        keys = list(at) if isinstance(at, dict) else range(len(at))
        key = data.draw(st.sampled_from(keys))
        deeper = isinstance(at[key], (dict, list)) and len(at[key]) > 0
        if not deeper or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(JSON)
    return record


@given(st.data())
def test_any_record_is_read_or_refused(data: st.DataObject) -> None:
    qrels, run = {"q": {"d": 1}}, {"q": {"e": 2.0, "d": 1.0}}
    record = spoil(germane.evaluate(qrels, run, "AP@10 RR").to_dict(queries=True), data)
    with contextlib.suppress(germane.GermaneError):
        str(germane.verify(record, qrels, run))


@given(st.data())
def test_any_results_are_read_or_refused_in_words(data: st.DataObject) -> None:
    result = germane.evaluate({"q": {"d": 1}}, {"q": {"e": 2.0, "d": 1.0}}, "AP@10 RR")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(spoil(result.to_dict(queries=True), data), file)
        file.flush()
        says = ""
        try:
            germane.read_results(file.name)
        except germane.GermaneError as error:
            says = str(error).replace(file.name, "")
    assert not re.search(r"__|object|argument|indices|germane\.\w", says)
