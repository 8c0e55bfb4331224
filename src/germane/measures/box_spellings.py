"""Spellings of measures of detected boxes: those of papers and tools are read like germane's own.

A name is that of a measure, and behind it are thresholds, an area, a frequency and a depth in any
order: ``mAP@[.5:.95]``, ``AP_small``, ``AR_max=100``. Some spellings have two meanings; they are
refused, and the message says how to write each.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from germane.errors import MeasureError, PolicyError, clip, list_choices, write_option
from germane.measures.box_names import (
    FREQUENCIES,
    INITIALS,
    POINTS,
    TAKES,
    BoxName,
    is_level,
    read_depth,
    read_parameters,
    write_depth,
)
from germane.measures.overlap_thresholds import read_thresholds, write_thresholds

EXAMPLES = "AP, AP50, AP(iou=.5,area=small), AR@10, P(confidence=.25)"
LONGEST = 300  # letters; no name has more


class UnknownNameError(MeasureError):
    """A name that is none of a measure of detections in any spelling."""


_FAMILIES = {
    "AP": r"(?:mean[_ ]?|m)?(?:ap|average[_ ]?precision)(?: *[(]m?ap[)])?",
    "AR": r"(?:mean[_ ]?|m)?(?:ar|average[_ ]?recall)(?: *[(]m?ar[)])?",
    "P": "precision|prec|p",
    "R": "recall|rec|r",
    "F1": r"f[_-]?1(?![\d.])(?:[_ -]?(?:score|measure))?",
    "F": "f",
}
"""Each measure, and how it is written in lower case. F1 is F that says its β."""

_FAMILY = re.compile(
    "|".join(f"(?P<{name}>{words})" for name, words in _FAMILIES.items()), re.IGNORECASE
)
_AREAS = ("all", "small", "medium", "large")
_WORDS = {**{word: word for word in (*_AREAS, *INITIALS.values())}, **INITIALS}
_WHOLE = {"precision": "P(confidence=best)", "recall": "R(confidence=best)"}
"""Names in Ultralytics' results, after ``metrics/``, that do not say what the tool computes."""

_TWICE = {"ar_all": "AR@1"}
"""Names by which one tool, faster-coco-eval, has another measure."""

_NO_MEASURES = ("aps", "maps")  # several AP, as in Ultralytics' results; APs is of small objects

# --- What is matched ------------------------------------------------------------------------------

_OVERLAPS = {
    "mask": "masks?|segm(?:entation)?|seg|instance",
    "box": "b?box(?:es)?|bb|detection|det",
    "oks": "keypoints?|kpts?|kps|pose|oks",
}
_SUFFIXES = {"(B)": "box", "(M)": "mask", "(P)": "oks"}  # of Ultralytics
_SUFFIX = re.compile(r"(?:^metrics/.*|\d)(\([BMP]\))$")
_MARKS = {"b": "box", "bb": "box", "mk": "mask", "kp": "oks"}  # of papers: AP^bb, APb50
_MARK = re.compile(rf"(?<=a[pr]|\d\d)[_^]?({'|'.join(_MARKS)})(?![a-z])", re.IGNORECASE)
_SPLIT = re.compile(
    r"(?<=a[pr]|\d\d)[\s_^]?(?:(?:mini)?val|test(?:-?dev)?)(?:20\d\d)?(?![a-z])", re.IGNORECASE
)
_OF_TENSORFLOW = re.compile("detection(box|mask|keypoint)e?s_(?:precision|recall)/", re.IGNORECASE)
_PREFIX = re.compile("^(?:metrics|coco|val|test)/", re.IGNORECASE)


def split_overlap(text: str) -> tuple[str, str]:
    """Split a detector's measure into its name and what is matched: box, mask, oks or "".

    >>> from germane.measures.box_spellings import split_overlap
    >>> split_overlap("mask AP50"), split_overlap("metrics/mAP50(B)"), split_overlap("APm")
    (('AP50', 'mask'), ('mAP50', 'box'), ('APm', ''))
    """
    written = re.sub("[{}$]", "", text.strip())  # AP_{50}
    bare = _SPLIT.sub(" ", _PREFIX.sub("", written)).strip()
    if named := _OF_TENSORFLOW.match(bare):
        return bare[named.end() :], {"keypoint": "oks"}.get(kind := named[1].casefold(), kind)
    if suffix := _SUFFIX.search(written):
        return bare.removesuffix(suffix[1]), _SUFFIXES[suffix[1]]
    if mark := _MARK.search(bare):
        return f"{bare[: mark.start()]} {bare[mark.end() :]}".strip(), _MARKS[mark[1].casefold()]
    for overlap, words in _OVERLAPS.items():
        rest = re.sub(rf"(?<![a-z])(?:{words})(?![a-z])", " ", bare, flags=re.IGNORECASE)
        if rest != bare and re.search("[a-z]", rest, re.IGNORECASE):
            return re.sub(r"[(\[]\s*[)\]]", "", rest).strip(" _-/:,."), overlap
    return bare, ""


# --- Names in a string ----------------------------------------------------------------------------


_BETWEEN = re.compile(r"\b(mean|average)\s+(?=average|precision|recall)", re.IGNORECASE)
_BEHIND = re.compile(
    rf"(?<=[a-z])\s+(?=[.\d]|iou\b|(?:{'|'.join(word for word in _WORDS if len(word) > 1)})\b)",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"\b({'|'.join(_OVERLAPS.values())})\s+(?=m?a[pr])", re.IGNORECASE)


def split_box_names(text: str) -> list[str]:
    """Split a string at blanks and commas, but for those within a name.

    >>> from germane.measures.box_spellings import split_box_names
    >>> split_box_names("AP @[.5:.95], mAP (small) mask AP50")
    ['AP@[.5:.95]', 'mAP(small)', 'mask_AP50']
    """
    joined = _BEFORE.sub(r"\1_", _BETWEEN.sub(r"\1_", text))
    joined = re.sub(r"\s*@\s*", "@", joined)
    joined = _BEHIND.sub("_", joined)  # AP .5
    joined = re.sub(r"(?<=[\w\]])\s+(?=[(\[])", "", joined)
    joined = re.sub(r"(?<=\])\s*=\s*-?[\d.]+", "", joined)  # the numbers of COCO's summary
    names = re.findall(r"(?:[^\s,()\[\]]|\([^()]*\)?|\[[^\[\]]*\]?|[)\]])+", joined)
    if not names:
        raise MeasureError("no measure was given; for instance 'AP AP50 AR@10'.")
    return names


# --- One name -------------------------------------------------------------------------------------

_NUMBER = r"(?:\d?\.\d+|\d+)"
_PIECE = re.compile(
    rf"""(?P<mark>[\s_@^\-/(\[|]*)
    (?: (?P<iou>iou\s*[=≥>]*\s*)?
        (?: (?P<range>{_NUMBER}(?:\s*(?:[:\-–~]|\.\.)\s*{_NUMBER}){{1,2}} | (?:50_95|5095)(?!\d))
          | (?P<pair>{_NUMBER}\s*,\s*{_NUMBER})
          | (?P<number>{_NUMBER}) )
        (?P<unit>\s*(?:%|iou)(?![a-z]))?
      | max(?:_?dets?)?\s*=?\s*(?P<depth>\d+)
      | (?P<word>{"|".join(sorted(_WORDS, key=len, reverse=True))})(?![a-z]) )
    [)\]\s]*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_GROUP = re.compile(r"([(\[])([^()\[\]]*=[^()\[\]]*)[)\]](?:\s*=\s*-?[\d.]+\s*$)?")


def read_box_name(text: object) -> BoxName:
    """Read a measure of detections from its name, in germane's spelling or another one.

    >>> from germane.measures.box_spellings import read_box_name
    >>> [read_box_name(one) for one in ("mAP@.5", "AP_small", "AR_max=100", "AP(IoU=.75)")]
    [AP50, AP(area=small), AR@100, AP75]

    Raises MeasureError for what is not one, and for a name that means two things.
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise _make_unknown_error(text)
    bare, overlap = split_overlap(text)
    if bare.casefold() in _TWICE:
        other = _TWICE[bare.casefold()]
        raise _make_ambiguous_error(
            text, ("AR(area=all)", "all sizes"), (other, "what faster-coco-eval calls so")
        )
    if text.strip().casefold().startswith("metrics/"):
        bare = _WHOLE.get(bare.casefold(), bare)
    start = _FAMILY.match(bare)
    closed = all(bare.count(one) == bare.count(other) for one, other in ("()", "[]"))
    if start is None or not closed or bare in _NO_MEASURES:
        raise _make_unknown_error(text)
    family, rest = str(start.lastgroup), bare[start.end() :]
    name = family.removesuffix("1")
    parameters: dict[str, Any] = {}
    if group := _GROUP.search(rest):
        parts = r",(?=\s*[a-z]+\s*=)" if group[1] == "(" else r"\s*[|,]\s*|\s+(?=\w+\s*=)"
        listed = re.split(parts, group[2].strip(), flags=re.IGNORECASE)
        parameters = read_parameters(text, name, listed)
        rest = f"{rest[: group.start()].rstrip('@ ')} {rest[group.end() :]}"
    pieces = list(_split(text, rest))
    for piece in sorted(pieces, key=lambda one: one["number"] is not None):  # which need the others
        key, value = _read_piece(text, BoxName(name, **_rename(parameters)), piece)
        if key in parameters:
            says = "two thresholds of overlap" if key == "iou" else f"{key} twice"
            raise MeasureError(f"{clip(text)} gives {says}.")
        parameters[key] = value
    made = BoxName(name, overlap=overlap, **_rename(parameters))
    letters = [piece for piece in pieces if piece["word"] == "m"]
    if not overlap and any("^" in letter["mark"] or made.iou for letter in letters):
        masks = f"{replace(made, area=None)} with {write_option('overlap', 'mask')}"
        raise _make_ambiguous_error(text, (made, "medium objects"), (masks, "masks"))
    if family == "F1" and made.confidence is None:
        made = replace(made, iou=made.iou or (0.5,))
        full = f"F(iou={write_thresholds(made.iou or ())},confidence=best)"
        best = full if made == BoxName("F", iou=made.iou) else replace(made, confidence="best")
        says = "those from the confidence on where it is best"
        raise _make_ambiguous_error(
            text, (made, "all detections"), (best, says), why=" depends on the scores that count"
        )
    return made


def is_of_boxes(text: str) -> bool:
    """Is this a measure of detections, for those who expect one of ranked lists?

    Only a parameter makes it one, of AP and AR also digits: P50 is rather P@50 to them.
    """
    try:
        name = read_box_name(text)
    except MeasureError:
        return False
    return name != BoxName(name.name) and (name.name in ("AP", "AR") or "=" in text)


def explain_of_boxes(text: str) -> str:
    """Say that a name is AP or AR of detections, where ranked lists are evaluated; or nothing."""
    if not is_of_boxes(text):
        return ""
    return " It is a measure of detected boxes: germane boxes and germane.boxes compute it."


def _make_unknown_error(text: object) -> UnknownNameError:
    return UnknownNameError(
        f"{clip(text)} is not a measure of detections.  There are: {', '.join(TAKES)}, such as"
        f" {EXAMPLES}"
    )


def _make_ambiguous_error(
    text: str, *meanings: tuple[BoxName | str, str], why: str = " can mean several things"
) -> MeasureError:
    """Make the error of a name that says how each thing that it can mean is written."""
    listed = list_choices(f"{name} for {says}" for name, says in meanings)
    return MeasureError(f"{clip(text)}{why}. Write {listed}.")


def _rename(parameters: dict[str, Any]) -> dict[str, Any]:
    return {"k" if name == "depth" else name: value for name, value in parameters.items()}


def _split(text: str, rest: str) -> Iterator[re.Match[str]]:
    """Split what follows the measure. Raises MeasureError for what is no piece of a name."""
    at = 0
    while rest[at:].strip(" )]"):
        piece = _PIECE.match(rest, at)
        if piece is None:
            raise _make_unknown_error(text)
        at = piece.end()
        yield piece


def _read_piece(text: str, box_name: BoxName, piece: re.Match[str]) -> tuple[str, Any]:
    """Read a piece of a name as a parameter and its value; ``known`` is what the others said."""
    if piece["word"]:
        word = piece["word"].casefold()
        if len(word) == 1 and box_name.name not in ("AP", "AR"):
            raise _make_unknown_error(text)
        return "frequency" if _WORDS[word] in FREQUENCIES else "area", _WORDS[word]
    if piece["depth"]:
        return "depth", read_depth(text, piece["depth"])
    if piece["pair"]:
        low, high = map(_write_share, re.split(r"\s*,\s*", piece["pair"]))
        several = (f"{box_name.name}(iou={low}:{high})", "a range of thresholds")
        raise _make_ambiguous_error(
            text, several, (f"{box_name.name}(iou={low}+{high})", "these two")
        )
    if piece["range"] == "5095" and "@" in piece["mark"] and box_name.name != "AP":
        return "depth", read_depth(text, piece["range"])
    if piece["range"]:
        return "iou", _read_range(text, piece["range"])
    return _read_number(text, box_name, piece)


def _write_share(digits: str) -> str:
    """Write a threshold of a name as a share: .5 for 50, 0.5 and .50."""
    number = float(digits) if "." in digits else int(digits) / 100
    return f"{number:g}".removeprefix("0") or "0"


def _read_levels(text: str, written: str) -> tuple[float, ...]:
    try:
        return read_thresholds(written)
    except PolicyError as error:
        raise MeasureError(f"{clip(text)}: {error}") from None


def _read_range(text: str, written: str) -> tuple[float, ...]:
    numbers = re.split(r"\s*(?:[:\-–~_]|\.\.)\s*", "50:95" if written == "5095" else written)
    if any(len(one) != 2 and "." not in one for one in (numbers[0], numbers[-1])):
        raise _make_unknown_error(text)
    return _read_levels(text, ":".join(map(_write_share, numbers)))


def _read_number(text: str, box_name: BoxName, piece: re.Match[str]) -> tuple[str, Any]:
    """Read a number as an overlap or as a depth. Raises MeasureError where it could be either."""
    digits, name, mark = piece["number"], box_name.name, piece["mark"]
    at, share = "@" in mark, _write_share(digits)
    if "." in digits or piece["iou"] or piece["unit"]:
        levels = _read_levels(text, share)
        if name in ("P", "R", "F") and not (piece["iou"] or piece["unit"]):
            scores = replace(box_name, confidence=float(share))
            says = f"an overlap of {share}"
            raise _make_ambiguous_error(
                text, (replace(box_name, iou=levels), says), (scores, f"scores from {share}")
            )
        return "iou", levels
    of_detections = len(digits) != 2 or digits == "10"  # AR1, AR10, AR100
    if (name in ("AR", "P", "R") and at) or (name == "AR" and of_detections):
        return "depth", read_depth(text, digits)
    unsure = (at and (name == "F" or box_name.iou)) or (mark and not at and name == "AR")
    if is_level(name, digits, after_at=at) and not unsure:
        return "iou", _read_levels(text, share)
    raise _make_unsure_error(text, box_name, digits)


def _make_unsure_error(text: str, box_name: BoxName, digits: str) -> MeasureError:
    """Explain a number that can be an overlap or a depth, or has not an overlap's two digits."""
    k, name = read_depth(text, digits), box_name.name
    why = f": the depth of {name} is a parameter" if box_name.iou else " can mean several things"
    meanings = [(replace(box_name, k=k), write_depth(k))]
    if len(digits) != 2:
        why = f": an overlap has two digits, as in {name}50"
        why += ", and F of detections has β = 1" * (name == "F")
    elif box_name.iou is None:
        share = _write_share(digits)
        meanings.insert(0, (replace(box_name, iou=(float(share),)), f"an overlap of {share}"))
    if name == "AP" and digits in POINTS and box_name.points is None:
        meanings.append((replace(box_name, points=digits), f"{digits} points of the curve"))
    if name == "R" and box_name.iou is None:
        meanings.append((BoxName("AR", k=k), "its mean over thresholds"))
    return _make_ambiguous_error(text, *meanings, why=why)
