"""Scorers for scikit-learn's cross-validation and searches, over groups of rows."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from germane.core.calls import list_values
from germane.dialects.names import parse
from germane.errors import FormatError, InputError, clip, list_some
from germane.evaluation.choices import make_policy
from germane.evaluation.evaluate import evaluate
from germane.measures.measure import Measure

_RESPONSES = ("decision_function", "predict_proba", "predict")


class Scorer:
    """A measure of the rankings that an estimator gives, one for each group of rows.

    scikit-learn calls it as ``scorer(estimator, X, y)``.
    """

    def __init__(self, measure: Measure, group: Any, conventions: Mapping[str, Any]) -> None:
        self.measure, self.group, self.conventions = measure, group, dict(conventions)

    def __repr__(self) -> str:
        return f"scorer({str(self.measure)!r}, group={clip(self.group)})"

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:  # noqa: N803  (as scikit-learn has it)
        scores = _predict(estimator, X)
        group = self._find_groups(X, y)
        grades = np.asarray(y)
        for noun, values in (("rows of X", scores), ("groups", group)):
            if len(values) != len(grades):
                raise FormatError(f"y has {len(grades)} rows, but there are {len(values)} {noun}.")
        result = evaluate(grades, scores, self.measure, group=group, **self.conventions)
        return float(result[self.measure].mean)

    def _find_groups(self, X: Any, y: Any) -> list[Hashable]:  # noqa: N803
        """Find the group of each row: by a column or a function of X, or by labels of rows."""
        group = self.group
        if callable(group):
            groups = group(X)
        elif isinstance(group, Mapping) or (hasattr(group, "index") and hasattr(group, "to_dict")):
            return _look_up(group, X, y)
        elif isinstance(group, str):
            if not hasattr(X, "columns") or group not in X.columns:
                names = list_some(X.columns) if hasattr(X, "columns") else "no names"
                raise FormatError(f"no column {group!r} in X; its columns have {names}.")
            groups = X[group]
        elif isinstance(group, int) and not isinstance(group, bool):
            groups = X.iloc[:, group] if hasattr(X, "iloc") else np.asarray(X)[:, group]
        else:
            raise InputError(
                "group= is the name or the number of a column of X, a function of X, or a pandas"
                f" Series or mapping from the labels of rows to groups; got {clip(group)}"
            )
        return _make_ids(list_values(groups))


def scorer(measure: str | Measure, *, group: Any, **policy: Any) -> Scorer:
    """Make a scorer for scikit-learn: the mean of a measure over groups of rows, such as queries.

    >>> from germane.sklearn import scorer
    >>> import numpy as np
    >>> X = np.array([[1, 0.9], [1, 0.2], [2, 0.1], [2, 0.4]])  # the query, and a feature
    >>> class Feature:
    ...     def predict(self, X):
    ...         return X[:, 1]
    >>> scorer("RR", group=0)(Feature(), X, np.array([1, 0, 1, 0]))
    0.75

    Give it as ``scoring=`` to ``cross_val_score``, ``GridSearchCV`` and the like. ``y`` holds
    grades. The scores of an estimator are its ``decision_function``, the second column of
    ``predict_proba``, or ``predict``, whichever it has first.

    ``group`` says which rows belong together: the name of a column of X (a frame), the number of a
    column, a function of X that returns one group a row, or a pandas Series or mapping from the
    labels of rows to groups, which needs no column in X. Split the data by the same groups, as
    ``GroupKFold`` does.

    The other arguments are the conventions of ``germane.evaluate``. Raises MeasureError and
    PolicyError at once, InputError for another ``group``, and FormatError where the rows do not
    fit.
    """
    chosen = parse(measure)
    make_policy(**policy)
    return Scorer(chosen, group, policy)


def _predict(estimator: Any, X: Any) -> Any:  # noqa: N803
    """Compute one score for each row."""
    respond: Callable[[Any], Any] | None = None
    for name in _RESPONSES:
        respond = getattr(estimator, name, None)
        if respond is not None:
            break
    if respond is None:
        raise InputError(
            f"the estimator has none of {', '.join(_RESPONSES)}; got {clip(estimator)}"
        )
    scores = np.asarray(respond(X))
    if scores.ndim == 2 and scores.shape[1] == 2 and name == "predict_proba":
        scores = scores[:, 1]
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise FormatError(
            f"{name} of {clip(estimator)} has shape {scores.shape}, but a ranking needs one score"
            " per row, as a classifier of two classes, a regressor or a ranker gives it."
        )
    return scores.astype(float)


def _look_up(group: Any, X: Any, y: Any) -> list[Hashable]:  # noqa: N803
    """Look up the group of each row by its label."""
    rows = next((side.index for side in (X, y) if hasattr(side, "iloc")), None)
    if rows is None:
        raise FormatError(
            "a Series or mapping finds groups by the labels of rows, but neither X nor y comes"
            " from pandas. Give the number of a column of X, or a function of X."
        )
    groups = group if isinstance(group, Mapping) else group.to_dict()
    absent = [row for row in rows if row not in groups]
    if absent:
        raise InputError(f"group= has no group for the rows {list_some(absent)}.")
    return _make_ids([groups[row] for row in rows])


def _make_ids(groups: Any) -> list[Hashable]:
    """Make ids of groups; a column of an array of floating-point numbers has whole numbers."""
    return [
        int(group) if isinstance(group, float) and group.is_integer() else group for group in groups
    ]
