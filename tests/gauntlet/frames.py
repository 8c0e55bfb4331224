"""pandas frames as joins, casts and careless renames leave them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gauntlet.case import MEASURES, QRELS, RUN, Outcome, each, refused, rows, value

Frame = pd.DataFrame


@dataclass(frozen=True)
class FrameCase:
    outcome: Outcome
    qrels: Callable[[Frame], Frame] = lambda frame: frame
    run: Callable[[Frame], Frame] = lambda frame: frame
    measures: str = MEASURES


def frames() -> tuple[Frame, Frame]:
    return (
        pd.DataFrame(rows(QRELS), columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(rows(RUN), columns=["query_id", "doc_id", "score"]),
    )


def cast(column: str, kind: str) -> Callable[[Frame], Frame]:
    return lambda frame: frame.astype({column: kind})


def digits(column: str, kind: Any) -> Callable[[Frame], Frame]:
    """Ids without their letter, as another type."""
    return lambda frame: frame.assign(**{column: frame[column].str[1:].astype(int).astype(kind)})


def put(column: str, row: int, new: Any) -> Callable[[Frame], Frame]:
    def changed(frame: Frame) -> Frame:
        out = frame.astype({column: object})
        out.loc[row, column] = new
        return out

    return changed


_NAN = float("nan")
_BINARY = value(each(QRELS, lambda grade: int(grade > 0)))
_ALIKE = ("query_id", "doc_id", "relevance")

CASES = {
    "frames": FrameCase(value()),
    "no scores": FrameCase(
        refused("no column is the score"), run=lambda run: run.drop(columns="score")
    ),
    "other names of columns": FrameCase(
        value(), run=lambda run: run.rename(columns={"query_id": "qid", "doc_id": "docno"})
    ),
    "two columns of scores": FrameCase(
        refused("more than one column", "'score'"),
        run=lambda run: pd.concat([run, run[["score"]] * -1], axis=1),
    ),
    "two columns of items": FrameCase(
        refused("more than one column", "'doc_id'"),
        qrels=lambda qrels: pd.concat([qrels, qrels[["doc_id"]] + "x"], axis=1),
    ),
    "a row judged twice": FrameCase(
        refused("judged twice", "'d01'", "duplicates=first"),
        qrels=lambda qrels: pd.concat(
            [qrels, pd.DataFrame([("q1", "d01", 0)], columns=_ALIKE)], ignore_index=True
        ),
    ),
    "nullable types": FrameCase(value(), Frame.convert_dtypes, Frame.convert_dtypes),
    "a NaN score": FrameCase(refused("score", "NaN", "row 4"), run=put("score", 4, _NAN)),
    "a NaN score in floats": FrameCase(
        refused("score", "NaN", "row 4"),
        run=lambda run: run.assign(score=run["score"].where(run["doc_id"] != "d03")),
    ),
    "a NaN grade": FrameCase(
        refused("relevance grade", "NaN", "row 0"), qrels=put("relevance", 0, _NAN)
    ),
    "a NaN grade in floats": FrameCase(
        refused("relevance grade", "NaN", "row 0"),
        lambda qrels: qrels.assign(relevance=qrels["relevance"].where(qrels["doc_id"] != "d01")),
    ),
    "a NaN query": FrameCase(refused("'query_id'", "NaN", "row 4"), run=put("query_id", 4, _NAN)),
    "scores as text": FrameCase(
        refused("'score'", "string"), run=lambda run: run.assign(score=(2 * run["score"]).map(str))
    ),
    "whole numbers as queries": FrameCase(
        value(), digits("query_id", int), digits("query_id", int)
    ),
    "whole numbers as queries, against text": FrameCase(
        refused("query ids", "different types"), digits("query_id", str), digits("query_id", int)
    ),
    "whole numbers as items, against text": FrameCase(
        refused("item ids", "different types"), digits("doc_id", str), digits("doc_id", int)
    ),
    "queries as floats": FrameCase(
        refused("'query_id'", "double", "integers or text", "floats"),
        digits("query_id", str),
        digits("query_id", float),
    ),
    "no rows": FrameCase(refused("no rows"), run=lambda run: run.iloc[:0]),
    "grades as floats": FrameCase(value(), cast("relevance", "float64")),
    "True and False as grades": FrameCase(
        _BINARY, lambda qrels: qrels.assign(relevance=qrels["relevance"] > 0)
    ),
    "grades of 32 bits": FrameCase(value(), cast("relevance", "int32")),
    "scores of 32 bits": FrameCase(value(), run=cast("score", "float32")),
    "whole scores": FrameCase(value(run=each(RUN, int)), run=cast("score", "int64")),
    "ids in the index": FrameCase(
        refused("no column is the query", "query_id"),
        run=lambda run: run.set_index(["query_id", "doc_id"]),
    ),
    "further columns": FrameCase(
        value(), lambda qrels: qrels.assign(note="x"), lambda run: run.assign(rank=0, text="y")
    ),
    "users, items and ranks": FrameCase(
        Outcome("value", {name: _BINARY.numbers[name] for name in ("AP", "RR")}),
        lambda qrels: qrels[qrels["relevance"] > 0][["query_id", "doc_id"]].rename(
            columns={"query_id": "user_id", "doc_id": "item_id"}
        ),
        lambda run: pd.DataFrame(
            {
                "user_id": run["query_id"],
                "item_id": run["doc_id"],
                "rank": run.groupby("query_id").cumcount() + 1,
            }
        ),
        "AP RR",
    ),
}
