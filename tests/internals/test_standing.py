"""Standing: the share of pairs that an order gets right, and its error."""

import itertools

import numpy as np
import pytest

import germane
from germane.checks.data import measure_retrieved, measure_standing
from germane.checks.evaluated import TOO_FEW
from germane.evaluation.collection import Collection
from germane.readers import Needs, open_qrels, open_run

from sizes import set_sizes


def test_so_few_results_never_stand_worse_than_chance() -> None:
    """Evaluating does not look at them: all relevant ones last is the worst that there is."""
    sizes = [[n] for n in range(2, TOO_FEW + 1)] + [[6, 6], [4, 4, 4], [2] * 6, [9, 3], [3] * 4]
    for retrieved in map(np.array, sizes):
        for relevant in itertools.product(*(range(size + 1) for size in retrieved)):
            owner = np.repeat(np.arange(len(retrieved)), relevant)
            last = [np.arange(n - r, n) + 1 for n, r in zip(retrieved, relevant, strict=True)]
            found = measure_standing(owner, np.concatenate(last), retrieved)
            assert found is None or not found.is_worse_than_chance
    found = measure_standing(np.zeros(6, int), np.arange(8, 14), np.array([13]))
    assert found is not None
    assert found.is_worse_than_chance, "one more, and it may be"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("enough", "looked_at"), [(1 << 16, 4), (19, 3), (18, 2), (1, 1)])
def test_standing_is_the_share_of_pairs(
    enough: int, looked_at: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against every pair looked at, a tied one counting half; whole queries, until they are enough."""
    set_sizes(monkeypatch, enough=enough)
    rng = np.random.default_rng(seed)
    qrels = {f"q{n}": {f"d{i}": int(rng.integers(2)) for i in range(9)} for n in range(4)}
    run = {q: {item: int(rng.integers(4)) for item in held} for q, held in qrels.items()}
    pairs = [
        (run[q][one] > run[q][other]) + (run[q][one] == run[q][other]) / 2
        for q, held in list(qrels.items())[:looked_at]
        for one in held
        for other in held
        if held[one] > held[other]
    ]
    judged = Collection(open_qrels(qrels), open_run(run), Needs("what is asked for")).judge(
        germane.Policy()
    )
    standing = measure_retrieved(judged.qrels, judged.retrieved)
    assert standing is not None
    assert standing.above == pytest.approx(np.mean(pairs), rel=1e-12)
    assert standing.pairs == len(pairs)


def test_the_error_of_a_standing_is_that_of_random_orders() -> None:
    rng = np.random.default_rng(0)
    owner, retrieved = np.repeat([0, 1], [3, 5]), np.array([10, 30])

    def drawn() -> float:
        ranks = [1 + rng.choice(n, r, replace=False) for r, n in ((3, 10), (5, 30))]
        found = measure_standing(owner, np.concatenate(ranks), retrieved)
        assert found is not None
        return found.above

    many = [drawn() for _ in range(4000)]
    expected = measure_standing(owner, np.arange(1, 9), retrieved)
    assert expected is not None
    assert np.mean(many) == pytest.approx(0.5, abs=0.01)
    assert np.std(many) == pytest.approx(expected.error, rel=0.05)
