"""Attributes that a value does not have, and what to write instead."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args, get_origin

_WORDS = {
    "to_pandas": (
        "dataframe data_frame df frame pandas to_dataframe to_data_frame to_df to_frame"
        " as_dataframe as_data_frame as_df as_frame as_pandas get_dataframe"
    ),
    "to_arrow": "arrow as_arrow to_pyarrow",
    "to_dict": "dict as_dict asdict todict json to_json as_json results_dict",
    "flat": "results_dict",
    "markdown": "to_markdown as_markdown md",
    "latex": "to_latex as_latex",
    "html": "to_html as_html",
    "text": "to_text to_string",
    "table": "summary to_table as_table show print pprint",
    "save": "to_file write savefig to_html",
    "mean": "value score average avg overall aggregate means aggregated_results result",
    "per_query": (
        "scores values_per_query scores_per_query query_scores by_query per_user by_user per_topic"
        " per_question individual_scores"
    ),
    "per_class": "maps ap_per_class class_ap ap_class class_scores by_class per_category",
    "definition": "formula",
    "interval": "ci confidence_interval conf_int",
    "p_value": "pvalue p pval",
    "pairs": "p_values pvalues",
    "verdict": "conclusion",
    "measures": "metrics metric_names",
    "best_confidence": "best_conf best_threshold",
}
"""What other libraries call an attribute, beside the attribute."""

_FILES = re.compile(r"to_(?:csv|excel|parquet|feather|numpy|sql|clipboard)")
_MEASURES = {"map": "ap", "mrr": "rr", "precision": "p", "recall": "r", "hitrate": "success"}


class AttributeAdvice:
    """A value whose missing attributes are errors that say what to write.

    >>> result = germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "RR")
    >>> result.per_user
    Traceback (most recent call last):
    AttributeError: 'Result' object has no attribute 'per_user'. Write result['RR'].per_query
    """

    if not TYPE_CHECKING:  # where an attribute is either declared or wrong

        def __getattr__(self, name: str) -> Any:
            # Protocols ask for names with underscores, and copies have no fields at first. What
            # the class has and cannot compute raises its own error.
            if name.startswith("_") or hasattr(type(self), name) or not self.__dict__:
                return object.__getattribute__(self, name)
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}.{_advise(self, name)}",
                name=name,
                obj=None,  # of which Python would advise the nearest name once more
            )


def _advise(value: Any, name: str) -> str:
    """Advise what to write: an attribute of the value, or of the values that it has by name."""
    word = name.casefold()
    wanted = [name, *(target for target, words in _WORDS.items() if word in words.split())]
    places: dict[str, tuple[str, Any]] = {}
    for path, holder in _list_holders(value):
        attributes = _list_attributes(holder)
        places = dict.fromkeys(sorted(attributes), (path, holder)) | places
        for attribute in wanted:
            if attribute in attributes:
                return f" Write {_write(value, path, holder, attribute)}"
        if _FILES.fullmatch(name) and "to_pandas" in attributes:
            return f" Write {_write(value, path, holder, 'to_pandas')}.{name}(…)"
    if measure := _find_measure(value, word):
        return f" Write {measure}"
    if name == "to_polars" and hasattr(value, "__arrow_c_stream__"):
        return " polars.DataFrame(…) reads it."
    from difflib import get_close_matches

    near = get_close_matches(name, places, 1)
    return f" Did you mean {_write(value, *places[near[0]], near[0])}?" if near else ""


def _write(value: Any, path: str, holder: Any, attribute: str) -> str:
    """Write an attribute as it is read: ``result['AP'].per_query``."""
    kind = holder if isinstance(holder, type) else type(holder)
    call = "()" * inspect.isfunction(inspect.getattr_static(kind, attribute, None))
    return f"{type(value).__name__.lower() if path else ''}{path}.{attribute}{call}"


def _list_holders(value: Any) -> Iterator[tuple[str, Any]]:
    """List a value, its first value by name, and that one's: the type alone where it is not
    computed yet.
    """
    path = ""
    while True:
        yield path, value
        if isinstance(value, type) or not hasattr(type(value), "__getitem__"):
            return
        first = next(iter(value), None) if hasattr(type(value), "keys") else None
        first_value = value.__dict__.get("_held", {}).get(first) or _find_value_type(type(value))
        if not isinstance(first, str) or first_value is None:
            return
        path, value = f"{path}[{first!r}]", first_value


def _find_value_type(kind: type) -> type | None:
    """Find the type of the values of a class: ``V`` of ``Lookup[V]``."""
    bases = [base for parent in kind.__mro__ for base in vars(parent).get("__orig_bases__", ())]
    parts = (get_args(base)[0] for base in bases if hasattr(get_origin(base), "keys"))
    return next((part for part in parts if isinstance(part, type)), None)


def _list_attributes(holder: Any) -> set[str]:
    """List the public attributes of a value, or of the values of a type."""
    names = {*dir(holder)}
    if dataclasses.is_dataclass(holder):
        names.update(field.name for field in dataclasses.fields(holder))
    return {name for name in names if not name.startswith("_")}


def _find_measure(value: Any, word: str) -> str:
    """Find the measure of a result that an attribute is called by: ``result['AP50'].mean``."""
    asked = re.sub(r"[\W_]", "", word)
    alone = asked.rstrip("0123456789")
    asked = _MEASURES.get(alone, alone) + asked.removeprefix(alone)
    for path, holder in _list_holders(value):
        kind = None if isinstance(holder, type) else _find_value_type(type(holder))
        if kind is None or "mean" not in _list_attributes(kind):
            continue
        for key in holder:
            measure = re.sub(r"[\W_]", "", re.sub(r"\(.*?\)", "", key)).casefold()
            if asked in (measure, measure.rstrip("0123456789")):
                return _write(value, f"{path}[{key!r}]", kind, "mean")
    return ""
