"""Finds the columns of a frame for query, item, score, rank and relevance."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.qrels import IdNames
from germane.errors import (
    FormatError,
    InputError,
    check_choice,
    clip,
    list_some,
    suggest,
    write_option,
)
from germane.readers.files.formats import CANDIDATES

NAMES: dict[str, tuple[str, ...]] = {
    "query": (
        "query_id", "qid", "q_id", "query", "topic", "topic_id", "user_id", "user", "userId",
        "session_id", "query-id", "question_id", "user_input", "customer_id",
    ),
    "item": (
        "doc_id", "docid", "docno", "item_id", "item", "itemId", "movieId", "product_id",
        "productId", "corpus-id", "pid", "movie_id", "article_id",
    ),
    "score": ("score", "rating", "prediction", "sim", "similarity", "weight"),
    "rank": ("rank",),
    "relevance": ("relevance", "rel", "label", "grade"),
    "subtopic": ("subtopic", "subtopic_id", "intent", "nugget", "nugget_id"),
    "judge": (
        "judge", "judge_id", "assessor", "assessor_id", "annotator", "annotator_id", "rater",
        "rater_id",
    ),
}  # fmt: skip

FURTHER: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (
        (
            "prompt_id", "member_id", "visitor_id", "client_id", "account_id", "uid", "reader_id",
            "listener_id", "viewer_id", "conversation_id", "search_id", "request_id", "playlist_id",
            "basket_id",
        ),
        (
            "question", "prompt", "user_query", "search_query", "search_term", "session",
            "customer", "member", "visitor",
        ),
    ),
    "item": (
        (
            "chunk_id", "passage_id", "document_id", "corpus_id", "paragraph_id", "node_id",
            "context_id", "page_id", "song_id", "track_id", "artist_id", "book_id", "isbn",
            "listing_id", "sku", "sku_id", "asin", "video_id", "news_id", "post_id", "recipe_id",
            "game_id", "anime_id", "show_id", "episode_id", "podcast_id", "place_id", "poi_id",
            "venue_id", "business_id", "restaurant_id", "hotel_id", "property_id", "course_id",
            "job_id", "paper_id", "offer_id", "goods_id", "film_id",
        ),
        (
            "chunk", "passage", "doc", "document", "song", "track", "book", "listing", "movie",
            "film", "product", "article", "video", "recipe", "game", "course", "hotel",
            "restaurant", "paper",
        ),
    ),
    "relevance": (
        (
            "is_relevant", "relevant", "relevancy", "relevance_label", "relevance_grade",
            "judgment", "judgement", "qrel",
        ),
    ),
}  # fmt: skip
"""Names of ids, and then of what may be text, where no column has one of ``NAMES``."""

LIKE_SCORES = (
    "ratings",
    "stars",
    "relevance_score",
    "clicked",
    "click",
    "clicks",
    "liked",
    "like",
    "likes",
    "purchased",
    "bought",
    "positive",
    "is_positive",
    "preference",
    "feedback",
    "vote",
    "votes",
    "target",
    "truth",
    "ground_truth",
    "y_true",
    "y",
    "gold",
    "correct",
    "value",
)
"""Names of numbers beside judgments that may be grades, as those of scores may be."""

_TERRIER = ("qid", "docno")
"""PyTerrier's ids. Beside them, ``query`` has the text, and ``docid`` a place in an index."""

_BESIDE_TERRIER = {"query": ("query",), "item": ("docid",)}

_PAIRS = (*CANDIDATES, "seen", "train")
_OWN = (*_PAIRS, "subtopic_weights", "catalogue", "distance")
"""Sides whose columns may have other names than those of the run."""
_OF: dict[str, tuple[str, ...]] = {
    "run": ("query", "item", "score", "rank"),
    "qrels": ("query", "item", "relevance", "subtopic"),
    "by": ("query", "item"),  # the category stands in the place of the item
    **dict.fromkeys(_PAIRS, ("query", "item")),
    "subtopic_weights": ("query", "subtopic"),
    **dict.fromkeys(("catalogue", "distance"), ("item",)),
}
ITERATION = "iteration"
"""A column of subtopics if measures look at them: the second one of TREC's qrels."""
VECTORS = ("vector", "embedding", "features")
JUDGES = "judges"
"""The kind of qrels with a column that names the judge. Other qrels do not look for one."""
WEIGHTS = ("weight", "probability", "prob", "p")


LISTS: dict[str, tuple[str, ...]] = {
    "run": (
        "recommendations", "recommended", "recs", "predictions", "prediction", "items", "item_ids",
        "retrieved_ids", "retrieved", "retrieved_context_ids",
    ),
    "qrels": (
        "relevant", "relevant_items", "relevant_ids", "expected_ids", "items", "item_ids",
        "reference_context_ids",
    ),
}  # fmt: skip
"""Columns whose cells hold the list of a query, where no column is the item."""


@dataclass(frozen=True)
class Headings:
    """The names of the columns that are read."""

    query: str
    item: str
    score: str | None = None
    rank: str | None = None
    relevance: str | None = None
    subtopic: str | None = None
    iteration: str | None = None
    judge: str | None = None
    numbers: tuple[tuple[str, str], ...] = ()  # of boxes: further parts and their columns
    flags: tuple[tuple[str, str], ...] = ()
    like_angle: str | None = None  # of boxes without an angle: a column that may be one
    lists: bool = False  # is the column of items called one of lists?
    field: str | None = None  # of the entries of lists: the one that the caller names as the item
    unordered: str | None = (
        None  # of a run whose cells are not lists: the error for rows without an order
    )
    list_scores: str | None = None  # of a run: a column that has the scores of cells with lists

    @staticmethod
    def read_columns(columns: Any) -> dict[str, Any] | None:
        """Read names of columns; a label that is no text has the text that Arrow makes of it.

        Raises InputError for anything else.
        """
        if columns is None:
            return None
        if not isinstance(columns, Mapping):
            raise InputError(
                f"{write_option('columns')} is {{'query': name, 'item': name, …}};"
                f" got {clip(columns)}"
            )
        names: dict[str, Any] = {}
        for part, name in columns.items():
            if part in _OF and isinstance(name, Mapping):
                weight = {"weight": name["weight"]} if "weight" in name else {}
                names[part] = {
                    **(
                        Headings.read_columns(
                            {part: label for part, label in name.items() if part != "weight"}
                        )
                        or {}
                    ),
                    **{part: spell_label(label) for part, label in weight.items()},
                }
                continue
            check_choice("columns=", part, NAMES, InputError)
            names[part] = spell_label(name)
            if not (
                isinstance(names[part], str) or (name is None and part not in ("query", "item"))
            ):
                raise InputError(
                    f"{write_option('columns', {part: '…'})} takes the name of a column; got"
                    f" {clip(name)}"
                )
        return names

    @classmethod
    def resolve(
        cls, column_names: Sequence[str], kind: str, where: str, columns: Any = None
    ) -> Headings:
        """Find the columns of a run or of qrels. Raises FormatError that lists the columns."""
        if kind in _OF_BOXES:
            return _resolve_boxes(column_names, kind, where, columns)
        if kind == "groups":
            return _resolve_pairs(column_names, where)
        if kind == "by":
            return _resolve_categories(column_names, where)
        common = columns or {}
        if kind in _OWN:
            common = {
                part: name for part, name in common.items() if name in column_names or part == kind
            }
        if kind == "subtopic_weights":
            return _resolve_weights(column_names, where, choose_names(common, kind))
        if kind in ("catalogue", "distance"):
            return _resolve_items(column_names, kind, where, choose_names(common, kind))
        needed: tuple[str, ...] = ("query", "item")
        if kind == "qrels" and common.get("judge"):
            raise InputError(
                f"{write_option('columns', {'judge': '…'})} is for the judgments of several judges,"
                " as evaluate_judges and germane judges take them; leave it out."
            )
        if kind == JUDGES:
            kind, needed = "qrels", (*needed, "judge")
        chosen = choose_names(common, kind)
        parts = dict.fromkeys((*_OF[kind], *needed))
        lists = _find_lists(column_names, kind, where, chosen)
        field = None
        if lists is not None:
            field = chosen["item"].partition(".")[2] if "item" in chosen else None
            chosen = {**chosen, "item": lists}
        names = {part: _choose_one(part, column_names, where, chosen) for part in parts}
        for part in needed:
            if names[part] is None:
                taken = _note_taken(part, column_names, chosen)
                raise FormatError(_explain_absent(where, part, column_names, NAMES[part], taken))
        unordered = None
        if kind == "run" and names["score"] is None and names["rank"] is None:
            known_names, named = (
                NAMES["score"] + NAMES["rank"],
                write_option("columns", {"score": "name"}),
            )
            unordered = _explain_absent(
                where, "score or the rank", column_names, known_names, named=named
            )
            unordered += (
                " If the rows of a query are in order, number them in a column rank: 1, 2, …"
            )
            unordered += _advise_ranks(column_names) + _advise_distances(column_names)
        if kind == "qrels" and names["relevance"] is None and "relevance" not in chosen:
            names["relevance"] = _refuse_scored(column_names, where)
        _refuse_shared(names, where)
        if kind == "qrels" and ITERATION in column_names and ITERATION not in names.values():
            names["iteration"] = ITERATION if "subtopic" not in chosen else None
        list_scores = None
        if unordered is not None:
            list_scores = _find_list_scores(column_names, names["item"])
        return Headings(
            **names,  # type: ignore[arg-type]
            lists=lists is not None,
            field=field,
            unordered=unordered,
            list_scores=list_scores,
        )

    @staticmethod
    def name_images(column_names: Iterable[str]) -> bool:
        """Does one of these names stand for the image of a box?"""
        return any(name.casefold() in BOX_NAMES["image"] for name in column_names)

    @property
    def all(self) -> list[str]:
        """All names, each of them once."""
        more_names = (name for _, name in self.numbers + self.flags)
        named = (*self.ids, self.score, self.rank, self.relevance, *more_names)
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def sides(self) -> tuple[str, tuple[str, ...]]:
        """The format of boxes, and their parts, of those whose parts all have columns."""
        parts = {part for part, _ in self.numbers}
        return next(form for form in _FORMS.items() if set(form[1]) <= parts)

    @property
    def id_names(self) -> IdNames:
        """The names of query and item in results; a place or a list is no name of one."""
        item = None if self.lists else self.item
        names = (name if name and not name.isdigit() else None for name in (self.query, item))
        return IdNames(*(name or usual for name, usual in zip(names, IdNames(), strict=True)))

    @property
    def ids(self) -> list[str]:
        """The names of the columns of ids."""
        named = (self.query, self.item, self.subtopic, self.iteration, self.judge)
        return list(dict.fromkeys(name for name in named if name is not None))


def refuse_columns(where: str, raw: Mapping[Any, Any]) -> None:
    """Refuse a dict of frames, or of columns, or of rows that are dicts: their keys are not ids."""
    first = next(iter(raw.values()))
    if hasattr(first, "column_names") or hasattr(first, "columns"):
        raise FormatError(
            f"{where}: this is a mapping of names to frames, {list_some(raw)}; give one of the"
            " frames."
        )
    for named in (raw, first):
        if not isinstance(named, (dict, Mapping)) or len(named) > _MOST:
            continue
        if not (_QUERIES.isdisjoint(named) or _ITEMS.isdisjoint(named)):
            query, item = (
                next(name for name in named if name in ids) for ids in (_QUERIES, _ITEMS)
            )
            raise FormatError(
                f"{where}: {query!r} and {item!r} look like the names of columns, but the keys of"
                " a dict are ids. Pass columns as a frame, such as pandas.DataFrame(…)."
            )


_MOST = 16  # the most columns of a frame that is recognized in a dict
_QUERIES, _ITEMS = (frozenset(NAMES[part]).union(*FURTHER[part]) for part in ("query", "item"))


def spell_label(label: Any) -> Any:
    """Spell the label of a column as Arrow does, which names columns by text alone.

    >>> from germane.readers.objects.headings import spell_label
    >>> spell_label(0), spell_label("score"), spell_label(None)
    ('0', 'score', None)
    """
    is_label = isinstance(label, (numbers.Real, tuple, datetime.date, np.datetime64))
    return str(label) if is_label and not isinstance(label, (bool, np.bool_)) else label


def choose_names(columns: Mapping[str, Any] | None, side: str) -> dict[str, Any]:
    """Choose the names of columns that the caller gives for a side, or for all sides."""
    common = columns or {}
    return {**common, **(common.get(side) or {})}


def has_query(names: Sequence[str]) -> bool:
    """Does one of these names stand for the query?"""
    known_names = {_strip_name(name) for name in (*NAMES["query"], *FURTHER["query"][0])}
    return any(_strip_name(name) in known_names for name in names)


def has_rows(raw: Sequence[Any], chosen: Mapping[str, Any]) -> bool:
    """Is each object of a list a row: plain values, with a column of queries and one of items?"""
    first = raw[0] if raw else None
    if not all(isinstance(row, Mapping) for row in raw) or not first:
        return False
    if any(isinstance(cell, (list, Mapping)) for cell in first.values()):
        return False
    try:
        return all(_choose_one(part, [*first], "", chosen) for part in ("query", "item"))
    except FormatError:  # which opening the columns explains
        return True


def _strip_name(name: str) -> str:
    """Drop case and signs: ``trackId`` and ``Track ID`` are ``track_id``."""
    return re.sub(r"[-_. ]+", "", name.casefold())


def _find_lists(
    names: Sequence[str], kind: str, where: str, chosen: Mapping[str, Any]
) -> str | None:
    """Find the column of lists; None where a column is the item, or no column is called so.

    The caller may name a field of their entries: ``{"item": "recommendations.movie"}``.
    """
    if chosen.get("item") is not None:
        column, dot, _ = str(chosen["item"]).partition(".")
        return column if dot and column in names and chosen["item"] not in names else None
    if kind not in LISTS or _choose_one("item", names, where, chosen, further={}) is not None:
        return None
    named = [name for name in names if name.casefold() in LISTS[kind]]
    if len(named) > 1:
        raise FormatError(
            f"{where}: more than one column can be the lists of items: {_list_names(named)}."
            f" Choose one with {write_option('columns', {'item': 'name'})}."
        )
    return named[0] if named else None


def _explain_absent(
    where: str, part: str, names: Sequence[str], known_names: Sequence[str], note: str = "",
    named: str = "",
) -> str:  # fmt: skip
    """Explain that no column is a part; ``named`` is the option that names one."""
    named = named or write_option("columns", {part: "name"})
    texts = ""
    if {"_id", "text"} <= set(names):
        texts = " These are the texts of a data set such as BEIR's; its judgments are in qrels/."
    return (
        f"{where}: no column is the {part}; found {_list_names(names)}.{note}{texts} Known names:"
        f" {', '.join(known_names)}. Use {named} for another name."
    )


def _resolve_weights(
    column_names: Sequence[str], where: str, chosen: Mapping[str, Any]
) -> Headings:
    """Find the columns of queries, subtopics and weights, which are read as items and grades."""
    known_names = NAMES | {"weight": WEIGHTS}
    parts = ("query", "subtopic", "weight")
    names = {part: _choose_one(part, column_names, where, chosen, known_names) for part in parts}
    for part, name in names.items():
        if name is None:
            named = f"columns={{'subtopic_weights': {{{part!r}: name}}}}"
            raise FormatError(
                _explain_absent(where, part, column_names, known_names[part], named=named)
            )
    _refuse_shared(names, where)
    return Headings(str(names["query"]), str(names["subtopic"]), relevance=names["weight"])


def _resolve_items(
    names: Sequence[str], kind: str, where: str, chosen: Mapping[str, Any]
) -> Headings:
    """Find the column of items, and those of their vectors: one of a known name, or all others."""
    item = _choose_one("item", names, where, chosen)
    if item is None and kind == "catalogue" and len(names) == 1:
        item = names[0]
    if item is None:
        raise FormatError(_explain_absent(where, "item", names, NAMES["item"]))
    other_names = [name for name in names if name != item]
    if kind == "catalogue":
        return Headings(item, item)
    if not other_names:
        raise FormatError(
            f"{where}: no column is the vector. Vectors are columns of numbers, or one column of"
            " lists."
        )
    vector_names = [name for name in other_names if name.casefold() in VECTORS]
    return Headings(
        item, item, numbers=tuple((column, column) for column in vector_names[:1] or other_names)
    )


BOX_NAMES: dict[str, tuple[str, ...]] = {
    "image": (
        "image", "image_id", "imageid", "img", "img_id", "filename", "file_name", "file",
        "image_name", "image_path", "path",
    ),
    "class": (
        "class", "label", "category", "class_name", "class_id", "category_id", "category_name",
        "labelname", "cls",
    ),
    "x": ("x", "left", "xmin", "x_min", "x1", "bbox_x"),
    "y": ("y", "top", "ymin", "y_min", "y1", "bbox_y"),
    "right": ("right", "xmax", "x_max", "x2"),
    "bottom": ("bottom", "ymax", "y_max", "y2"),
    "cx": ("cx", "x_center", "xcenter", "center_x"),
    "cy": ("cy", "y_center", "ycenter", "center_y"),
    "width": ("width", "w", "bbox_width", "bbox_w"),
    "height": ("height", "h", "bbox_height", "bbox_h"),
    "angle": tuple(
        name + unit
        for name in ("angle", "theta", "rotation", "rot", "r")
        for unit in ("", "_deg", "_degrees", "_rad", "_radians")
    ),
    **{f"{axis}{end}": (f"{axis}{end}", f"{axis}_{end}") for end in (1, 2, 3, 4) for axis in "xy"},
    "score": ("score", "confidence", "conf", "probability", "prob"),
    "area": ("area",),
    "crowd": ("crowd", "iscrowd", "is_crowd", "isgroupof"),
    "difficult": ("difficult", "isdifficult", "is_difficult"),
}  # fmt: skip
"""The parts of a box, and the names of their columns."""

SIDES = {
    "xyxy": ("x", "y", "right", "bottom"),
    "xywh": ("x", "y", "width", "height"),
    "cxcywh": ("cx", "cy", "width", "height"),
}
"""The columns of each format of boxes."""

_ORIENTED = {
    "angle": ("cx", "cy", "width", "height", "angle"),
    "corners": ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"),
}
"""The columns of oriented boxes."""

_FORMS = _ORIENTED | SIDES

_LIKE_ANGLE = re.compile("(?i)(?<!rect)(?<!tri)angle|theta|rotat|radian|degree|yaw|tilt")

_FROM_ZERO = {f"{axis}{end + 1}": f"{axis}{end}" for end in range(4) for axis in "xy"}
"""The corners of boxes that number them from 0."""

_OF_BOXES = {
    "truth": ("image", "class", "area", "crowd", "difficult"),
    "detections": ("image", "class", "score"),
    "images": ("image", "width", "height"),
}


def _resolve_boxes(column_names: Sequence[str], kind: str, where: str, columns: Any) -> Headings:
    """Find the columns of truths or detections in images, or of the sizes of images."""
    common = {} if columns is None else columns
    if not isinstance(common, Mapping):
        raise InputError(
            f"{write_option('columns')} is {{'image': name, 'x': name, …}}; got {clip(columns)}"
        )
    for part in common.keys() - _OF_BOXES.keys():
        check_choice("columns=", part, BOX_NAMES, InputError)
    chosen = {part: spell_label(name) for part, name in choose_names(common, kind).items()}
    listed = {name.casefold(): name for name in column_names}
    if set(_FROM_ZERO.values()) <= set(listed) and not {"x4", "y4"} & {*listed, *chosen}:
        chosen = {part: listed[name] for part, name in _FROM_ZERO.items()} | chosen
    parts = {part for side in (*_FORMS.values(), _OF_BOXES[kind]) for part in side}
    names = {
        part: _choose_one(part, column_names, where, chosen, BOX_NAMES) for part in sorted(parts)
    }
    sides = _choose_sides(names, where) if kind != "images" else ()
    for part in ("image", "class", "score"):
        if part in _OF_BOXES[kind] and not names[part]:
            hint = " Are these truths?" if part == "score" else ""
            raise FormatError(_explain_absent(where, part, column_names, BOX_NAMES[part], hint))
    if kind != "images" and not sides:
        raise FormatError(
            f"{where}: no columns are the sides of a box; found {_list_names(column_names)}. Boxes"
            f" are {', or '.join(map(' '.join, SIDES.values()))}; oriented ones"
            f" {', or '.join(map(' '.join, _ORIENTED.values()))}."
            f" {write_option('columns', {'x': 'name', 'y': '…'})} names them."
        )
    _refuse_shared({part: names[part] for part in (*sides, *_OF_BOXES[kind])}, where)
    wanted = [part for part in (*sides, *_OF_BOXES[kind][1:]) if part not in ("class", "score")]
    pairs = tuple((part, str(names[part])) for part in dict.fromkeys(wanted) if names[part])
    flags = tuple(pair for pair in pairs if pair[0] in ("crowd", "difficult"))
    image, score = str(names["image"]), names["score"] if kind == "detections" else None
    item = image if kind == "images" else str(names["class"])
    like_angle = None
    if sides in SIDES.values() and "angle" not in chosen:
        like_angle = next(filter(_LIKE_ANGLE.search, set(column_names) - set(names.values())), None)
    return Headings(
        image,
        item,
        score,
        numbers=tuple(pair for pair in pairs if pair not in flags),
        flags=flags,
        like_angle=like_angle,
    )


def _choose_sides(names: Mapping[str, str | None], where: str) -> tuple[str, ...]:
    """Choose the columns of boxes; () where none are. Raises FormatError where several could be."""
    forms = {form: all(names[part] for part in sides) for form, sides in _FORMS.items()}
    angle = names["angle"]
    if forms["angle"] and forms["corners"]:
        raise FormatError(
            f"{where}: the boxes have an angle ({angle!r}) and four corners ({names['x1']!r}, …,"
            f" {names['y4']!r}). {write_option('columns', {'angle': None})} takes the corners, and"
            f" {write_option('columns', {'x3': None})} the angle."
        )
    if angle and not (forms["angle"] or forms["corners"]) and any(forms.values()):
        sides = next(sides for form, sides in SIDES.items() if forms[form])
        x, y = names["x"], names["y"]
        centers = (
            f" If {x!r} and {y!r} are the center: {write_option('columns', {'cx': x, 'cy': y})}."
            if sides == SIDES["xywh"]
            else ""
        )
        raise FormatError(
            f"{where}: column {angle!r} turns a box around its center, and its columns are"
            f" {' '.join(str(names[part]) for part in sides)}; {' '.join(_ORIENTED['angle'])} are"
            f" needed.{centers} {write_option('columns', {'angle': None})} reads boxes without an"
            " angle."
        )
    lost = [part for part in _ORIENTED["corners"] if not names[part]]
    if forms["xyxy"] and not forms["angle"] and lost and len(lost) < 4:
        raise FormatError(
            f"{where}: four corners are {' '.join(_ORIENTED['corners'])}, and no column is"
            f" {lost[0]}; {write_option('columns', {lost[0]: 'name'})} names it."
        )
    return next((_FORMS[form] for form, is_complete in forms.items() if is_complete), ())


def _note_taken(part: str, names: Sequence[str], chosen: Mapping[str, Any]) -> str:
    """Note that the column which could be a part is named as another one."""
    known_names = {name.casefold() for name in NAMES[part]}
    for part_taken, name in chosen.items():
        if isinstance(name, str) and name in names and name.casefold() in known_names:
            return f" {clip(name)} is named as the {part_taken}, and one column cannot be both."
    return ""


def _refuse_shared(names: Mapping[str, str | None], where: str) -> None:
    """Refuse a column that is named for two parts."""
    part_of: dict[str, str] = {}
    for part, name in names.items():
        if name is not None and (before := part_of.setdefault(name, part)) != part:
            raise FormatError(
                f"{where}: column {name!r} is named as the {before} and as the {part}. One column"
                f" cannot be both; {write_option('columns', {part: 'name'})} names another."
            )


def _resolve_pairs(names: Sequence[str], where: str) -> Headings:
    """Find the columns of items and of groups, which are read as those of queries and items."""
    if {"item", "group"} <= set(names):
        return Headings("item", "group")
    if len(names) != 2:
        raise FormatError(
            f"{where}: two columns are needed, item and group; found {_list_names(names)}."
        )
    return Headings(names[0], names[1])


PLACES = ("position", "pos", "place", "ranking", "order")


def _advise_ranks(names: Sequence[str]) -> str:
    """Advise how a column of places is named; nothing if there is none."""
    named = next((name for name in names if _strip_name(name) in PLACES), None)
    if named is None:
        return ""
    return f" If {named!r} has the ranks: {write_option('columns', {'rank': named})}."


def _find_list_scores(names: Sequence[str], item: str | None) -> str | None:
    """Find a column called like those of scores, in the plural: it belongs to cells with lists."""
    known = {f"{_strip_name(name)}s" for name in (*NAMES["score"], "distance", "probability")}
    known |= {"similarities", "probabilities", "probs", "logits"}
    return next((name for name in names if name != item and _strip_name(name) in known), None)


def _advise_distances(names: Sequence[str]) -> str:
    """Advise how a column of distances is named; nothing if there is none."""
    named = next((name for name in names if "dist" in name.casefold()), None)
    if named is None:
        return ""
    return (
        f" For distances: {write_option('columns', {'score': named})} and"
        f" {write_option('scores', 'distances')}."
    )


CATEGORIES = ("category", "group", "class", "type", "segment")


def _resolve_categories(names: Sequence[str], where: str) -> Headings:
    """Find the columns of queries and categories: of a known name, or the only other one."""
    query = _choose_one("query", names, where, {})
    other_names = [name for name in names if name != query]
    category_names = [name for name in other_names if name.casefold() in CATEGORIES]
    if query is None or (len(other_names) != 1 and len(category_names) != 1):
        raise FormatError(
            f"{where}: two columns are needed, a query and its category; found"
            f" {_list_names(names)}. Known names of the first: {', '.join(NAMES['query'])}; of the"
            f" second: {', '.join(CATEGORIES)}, or any where there are two columns."
            " Leave out the other columns."
        )
    return Headings(query, (category_names if len(other_names) != 1 else other_names)[0])


def _choose_one(
    part: str,
    names: Sequence[str],
    where: str,
    chosen: Mapping[str, Any],
    known_names: Mapping[str, tuple[str, ...]] = NAMES,
    further: Mapping[str, tuple[tuple[str, ...], ...]] = FURTHER,
) -> str | None:
    if part in chosen:
        name = chosen[part]
        if name is not None and name not in names:
            near = suggest(name, names)
            raise FormatError(f"{where}: no column {name!r}; found {_list_names(names)}.{near}")
        return name  # type: ignore[no-any-return]
    names_of_part = {name.casefold() for name in known_names[part]}
    fitting = [
        name for name in names if name.casefold() in names_of_part and name not in chosen.values()
    ]
    if set(_TERRIER) <= set(names) and part in ("query", "item"):
        fitting = [name for name in fitting if name not in _BESIDE_TERRIER[part]]
    for further_names in (known_names[part], *further[part]) if part in further else ():
        stripped = {_strip_name(name) for name in further_names}
        fitting = fitting or [
            name for name in names if _strip_name(name) in stripped and name not in chosen.values()
        ]
    if len(fitting) > 1:
        differ = len(set(fitting)) > 1
        advice = (
            f"Choose one with {write_option('columns', {part: 'name'})}."
            if differ
            else "Rename or drop one."
        )
        raise FormatError(
            f"{where}: more than one column can be the {part}: {_list_names(fitting)}. {advice}"
        )
    return fitting[0] if fitting else None


def _refuse_scored(names: Sequence[str], where: str) -> str | None:
    """Accept BEIR's scores as grades. Refuse other scores, which may be the grades."""
    numbered = {_strip_name(name) for name in (*NAMES["score"], *LIKE_SCORES)}
    named = [name for name in names if _strip_name(name) in numbered]
    if {"query-id", "corpus-id", "score"} <= set(names):  # BEIR's
        return "score"
    if named:
        raise explain_scored(where, named[0])
    return None


def explain_scored(where: str, name: str) -> FormatError:
    """Make the error for judgments whose only number has the name of a score."""
    return FormatError(
        f"{where}: is {name!r} the relevance? Use"
        f" {write_option('columns', {'relevance': name})} if so, or"
        f" {write_option('columns', {'relevance': None})} to count every row as relevant."
        " If this is a run, give it after the judgments."
    )


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(clip(name) for name in names) or "no columns"
