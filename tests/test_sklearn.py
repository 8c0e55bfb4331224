"""germane.sklearn: scores of estimators against germane.evaluate and arithmetic."""

import pickle
from typing import Any

import numpy as np
import pytest

import germane
from germane.errors import FormatError, GermaneError, InputError, MeasureError, PolicyError
from germane.sklearn import scorer

sklearn = pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")

from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

RNG = np.random.default_rng(3)
QUERY = np.repeat(np.arange(30), 8)
FEATURES = RNG.normal(size=(240, 3))
GRADES = (FEATURES[:, 0] + RNG.normal(size=240) > 0.5).astype(int)
X = np.column_stack([QUERY, FEATURES])
FRAME = pandas.DataFrame(X, columns=["query", "a", "b", "c"]).astype({"query": int})


def expected(estimator: Any, respond: str, measure: str) -> list[float]:
    values = []
    for train, test in GroupKFold(3).split(X, GRADES, QUERY):
        scores = getattr(estimator.fit(X[train], GRADES[train]), respond)(X[test])
        scores = scores[:, 1] if scores.ndim == 2 else scores
        result = germane.evaluate(GRADES[test], scores, measure, group=QUERY[test].tolist())
        values.append(result[measure].mean)
    return values


@pytest.mark.parametrize(
    ("estimator", "respond"),
    [
        (LinearRegression(), "predict"),
        (LogisticRegression(), "decision_function"),
        (DecisionTreeClassifier(max_depth=3, random_state=0), "predict_proba"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_cross_validation(estimator: Any, respond: str) -> None:
    right = expected(estimator, respond, "nDCG@5")
    labels = pandas.Series(QUERY, FRAME.index)
    for x, group in (
        (X, 0),
        (FRAME, "query"),
        (FRAME, 0),
        (X, lambda part: part[:, 0]),
        (FRAME, labels),
        (FRAME, labels.to_dict()),
    ):
        y = pandas.Series(GRADES)
        scoring = scorer("nDCG@5", group=group)
        found = cross_val_score(
            estimator,
            np.asarray(x) if x is X else x,
            y,
            groups=QUERY,
            cv=GroupKFold(3),
            scoring=scoring,
        )
        assert found == pytest.approx(right, abs=1e-12)


def test_a_search_chooses_by_it() -> None:
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, cv=GroupKFold(3), scoring=scorer("AP", group=0)
    )
    search.fit(X, GRADES, groups=QUERY)
    assert 0 < search.best_score_ < 1


class Given:
    """An estimator whose scores are X."""

    def predict(self, x: Any) -> Any:
        return x[:, 1]


def test_by_hand() -> None:
    x = np.array([["q", 0.9], ["q", 0.2], ["r", 0.1], ["r", 0.4]], object)
    assert scorer("RR", group=0)(Given(), x, [1, 0, 1, 0]) == (1 + 1 / 2) / 2
    tied = np.array([["q", 0.5], ["q", 0.5]], object)
    assert scorer("RR", group=0, ties="worst")(Given(), tied, [1, 0]) == 0.5
    assert scorer("RR", group=0, ties="best")(Given(), tied, [1, 0]) == 1.0
    made = scorer("HR@10", group=0)
    assert repr(made) == "scorer('Success@10', group=0)"
    assert pickle.loads(pickle.dumps(made))(Given(), x, [1, 0, 1, 0]) == 1.0


def test_what_is_refused() -> None:
    with pytest.raises(MeasureError):
        scorer("nDGC@10", group=0)
    with pytest.raises(PolicyError):
        scorer("AP", group=0, ties="none")  # type: ignore[arg-type]
    x = np.array([[1.0, 0.5], [1.0, 0.2]])
    cases: list[tuple[Any, Any, type[GermaneError], str]] = [
        ("query", x, FormatError, "no column 'query' in X; its columns have no names."),
        ("query", FRAME[["a"]], FormatError, "no column 'query' in X; its columns have 'a'."),
        (None, x, InputError, "group= is the name or the number of a column"),
        (lambda part: [1], x, FormatError, "y has 2 rows, but there are 1 groups."),
        ({0: 1}, x, FormatError, "neither X nor y comes from pandas"),
        ({0: 1}, FRAME[:2], InputError, "group= has no group for the rows 1."),
    ]
    for group, given, error, message in cases:
        estimator = LinearRegression().fit(np.asarray(FRAME[["a"]][:9]), GRADES[:9])
        estimator.predict = lambda one: np.zeros(len(one))  # type: ignore[method-assign]
        with pytest.raises(error, match=message):
            scorer("AP", group=group)(estimator, given, [1, 0])
    with pytest.raises(InputError, match="the estimator has none of decision_function"):
        scorer("AP", group=0)(object(), x, [1, 0])
    three = DecisionTreeClassifier().fit(x[[0, 1, 1]], [0, 1, 2])
    with pytest.raises(FormatError, match=r"predict_proba of .* has shape \(2, 3\)"):
        scorer("AP", group=0)(three, x, [1, 0])
