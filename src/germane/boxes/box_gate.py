"""The verb gate of boxes: a detector against its baseline, and against floors."""

from typing import TYPE_CHECKING, Any, Unpack

from germane.boxes.box_comparison import COMPARED, compare_shares, share_all
from germane.boxes.box_measures import BoxMeasures, list_box_names
from germane.boxes.box_records import find_record, hash_truths, read_shares
from germane.boxes.box_result import Result
from germane.boxes.verbs import evaluate, evaluate_many
from germane.comparison.floors import Floors, check_floors, read_floors
from germane.comparison.gate import (
    BASELINE,
    RUN,
    Gate,
    check_limits,
    list_compared,
    refuse_regression,
)
from germane.comparison.significance import Correction, Settings
from germane.core.calls import Seed
from germane.errors import InputError

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect


def gate(
    truth: "TruthSource",
    detections: "DetectionSource",
    measures: "BoxMeasures | None" = None,
    *,
    baseline: "DetectionSource | Result | None" = None,
    floor: Floors | None = None,
    max_drop: float = 0.0,
    alpha: float = 0.05,
    correction: Correction | None = None,
    rng: Seed = 0,
    dialect: "str | Dialect | None" = None,
    **options: Unpack["Options"],
) -> Gate:
    """Compare a detector with its baseline, and say which measures fell, or are below a floor.

    ``baseline`` are detections, a ``Result``, or a record: the path of a ``.json`` file that
    ``germane boxes --record`` wrote, or what ``result.to_dict(images=True)`` returned. ``floor`` is
    the lowest value of a measure that passes, such as ``"AP50>=.40"`` or
    ``"AP50(class=person)>=.3"``, or a list; it needs no baseline. The other arguments are those of
    ``germane.gate`` and of ``evaluate``.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{**truth[0], "scores": [0.9]}]
    >>> germane.boxes.gate(truth, found, baseline=found).passed
    True
    >>> germane.boxes.gate(truth, [], floor="AP50>=.40").verdicts
    {'AP50': 'below'}

    Raises InputError for a record of other truths, PolicyError for other conventions, and what
    ``evaluate`` and ``germane.gate`` raise.
    """
    check_limits(max_drop, alpha)
    floors = read_floors(floor)
    compared: Any = list_compared(measures, COMPARED, baseline, floors)
    names = list_box_names(compared) if compared else []
    wanted = [*names, *(level.measure for level in floors)]
    settings = Settings(BASELINE, "randomization", correction, "all", 1 - alpha, None, 10_000)
    record = find_record(baseline)
    if baseline is None or record is not None or isinstance(baseline, Result):
        now = evaluate(truth, detections, wanted, dialect=dialect, name=RUN, **options)
        before = baseline if isinstance(baseline, Result) else None
    else:
        both: Any = {BASELINE: baseline, RUN: detections}
        results = evaluate_many(truth, both, wanted, dialect=dialect, **options)
        before, now = results[BASELINE], results[RUN]

    def find(name: str) -> tuple[str, float, str]:
        return str(now.name_measure(name)), now[name].mean, now[name].definition

    checked = check_floors(floors, find, lambda name: (0.0, 1.0))
    if baseline is None:
        return Gate(None, max_drop, {}, checked, (f"conventions: {now.conventions}",))
    own_shares = share_all(now, names)
    if record is not None:
        old_shares = read_shares(record, now, list(own_shares))
    else:
        assert before is not None
        _check_result(before, now)
        old_shares = share_all(before, names)
    shares = {BASELINE: old_shares, RUN: own_shares}
    return Gate(compare_shares(shares, now, settings, rng), max_drop, {}, checked)


def _check_result(before: Result, now: Result) -> None:
    """Refuse a result of other truths or conventions."""
    old, new = before.truths, now.truths
    in_order = list(old.images) == list(new.images)  # of which shares are matched by their places
    same = old is new or (in_order and hash_truths(old) == hash_truths(new))
    if not same or before.conventions != now.conventions:
        raise InputError(
            "the baseline was evaluated with other truths, another order of images, or other"
            " conventions. Evaluate both with the same ones."
        )


def assert_no_regression(
    truth: "TruthSource",
    detections: "DetectionSource",
    measures: "BoxMeasures | None" = None,
    *,
    baseline: "DetectionSource | Result | None" = None,
    floor: Floors | None = None,
    max_drop: float = 0.0,
    alpha: float = 0.05,
    correction: Correction | None = None,
    rng: Seed = 0,
    dialect: "str | Dialect | None" = None,
    **options: Unpack["Options"],
) -> Gate:
    """Raise RegressionError if a detector is worse than its baseline or a floor; for tests.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{**truth[0], "scores": [0.9]}]
    >>> germane.boxes.assert_no_regression(truth, found, floor="AP50>=.4").passed
    True

    The arguments are the same as for ``gate``. If the detector passes, the gate is returned.
    """
    decision = gate(
        truth, detections, measures, baseline=baseline, floor=floor, max_drop=max_drop,
        alpha=alpha, correction=correction, rng=rng, dialect=dialect, **options,
    )  # fmt: skip
    return refuse_regression(decision)
