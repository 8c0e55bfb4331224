"""Makes runs of Python values, and of rows in frames and files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import germane

import inputs
from crossings.case import Case
from crossings.options import Data, find_top
from inputs import COLUMNS, TREC, Scores

PAD = "-1"


def keep(convert: Callable[[Scores], Any]) -> Callable[[Data, Path], Case]:
    """Hold runs as Python values, beside dicts of judgments."""

    def make(data: Data, folder: Path) -> Case:
        runs = convert(data.run), convert(data.other)
        if data.has_copies:
            for got in (got for run in runs for got in run.values() if isinstance(got, list)):
                got += got[:1]
        for run in runs if data.padding else ():
            for query, got in run.items():
                is_listed = isinstance(got, list)
                run[query] = (
                    [PAD] * data.padding + got if is_listed else {PAD: find_top(data), **got}
                )
        return Case(data.qrels, *runs, data.people, dict(data.options), data.measures, folder)

    return make


def make_hits(field: str, make: Callable[..., Any] = dict) -> Callable[[Data, Path], Case]:
    """Hold runs as lists of hits, with a field of scores, of distances, or neither."""

    def make_case(data: Data, folder: Path) -> Case:
        lowest = data.options.get("scores") == "distances"
        sign = -1 if field == "distance" and not lowest else 1

        def list_hits(got: dict[str, float]) -> list[Any]:
            pairs = list(got.items())
            if data.has_copies:
                pairs += [(item, 9.0 if lowest else -9.0) for item in [*got][:1]]
            pairs[:0] = [(PAD, find_top(data))] * data.padding
            if field:
                return [make(**{"id": item, field: sign * score}) for item, score in pairs]
            ranked = sorted(pairs, key=lambda pair: -pair[1])
            return [make(id=item) for item, _ in ranked]

        runs = (
            {query: list_hits(got) for query, got in run.items()} for run in (data.run, data.other)
        )
        return Case(data.qrels, *runs, data.people, dict(data.options), data.measures, folder)

    return make_case


def rank_lists(run: Scores) -> dict[str, list[str]]:
    return {query: sorted(got, key=lambda item: -got[item]) for query, got in run.items()}


def write_rows(
    write: Callable[[list[Any], Path], Any], is_ranked: bool = False
) -> Callable[[Data, Path], Case]:
    """Hold runs as rows, which are in the order of their scores if ``is_ranked``."""

    def make(data: Data, folder: Path) -> Case:
        def hold(name: str, given: Any) -> Any:
            place = folder / name
            place.mkdir(exist_ok=True)
            rows = [(query, list(inputs.rows({query: got}))) for query, got in given.items()]
            sign = 1 if data.options.get("scores") == "distances" else -1
            for _, one in rows:
                one.sort(key=lambda row: sign * row[2] if is_ranked else 0)
                if data.has_copies:
                    one += [(*row[:2], -9.0 * -sign) for row in one[:1]]
            for query, one in rows:
                one[:0] = [(query, PAD, find_top(data))] * data.padding
            return write([row for _, one in rows for row in one], place)

        runs = hold("run", data.run), hold("other", data.other)
        return Case(data.qrels, *runs, data.people, dict(data.options), data.measures, folder)

    return make


def make_columns(name: str, scattered: bool = False) -> Callable[[Data, Path], Case]:
    def write(rows: list[Any], folder: Path) -> Any:
        if scattered:  # every query's rows keep their order
            place: dict[str, int] = {}
            at = [
                (place.setdefault(row[0], 0), place.update({row[0]: place[row[0]] + 1}))
                for row in rows
            ]
            rows = [rows[i] for i in sorted(range(len(rows)), key=lambda i: at[i][0])]
        return COLUMNS[name](inputs.table(rows), folder)

    return write_rows(write)


def make_trec(read: bool = False) -> Callable[[Data, Path], Case]:
    def write(rows: list[Any], folder: Path) -> Any:
        path = inputs.store(TREC["plain"](rows), folder)
        return germane.read_run(path) if read else path

    return write_rows(write, is_ranked=True)


def store_json(data: Data, folder: Path) -> Case:
    paths = [folder / f"{name}.json" for name in ("run", "other")]
    for path, run in zip(paths, (data.run, data.other), strict=True):
        padded = {query: {PAD: find_top(data), **got} for query, got in run.items()}
        path.write_text(json.dumps(padded if data.padding else run), "utf-8")
    return Case(data.qrels, *paths, data.people, dict(data.options), data.measures, folder)
