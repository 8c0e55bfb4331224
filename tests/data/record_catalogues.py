"""Record what other tools answer for measures of the catalogue.

    python tests/data/record_catalogues.py [ELLIOT]

writes catalogues.json beside this file: the lists, what users saw before, and each tool's answers. ELLIOT is a
checkout of Elliot, which is no package, with its commit in a file COMMIT. RecBole and LensKit run without
PyTorch: their measures do not use it. Answers of tools that are not installed stay as they are.
"""

import json
import random
import sys
import types
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

JSON = Path(__file__).with_name("catalogues.json")
ITEMS, K = 24, 4
warnings.simplefilter("ignore")


def make_data(seed: int, traits: str) -> dict[str, Any]:
    """Make lists of items 1 … ITEMS by user, none of which the user saw, and what users saw."""
    rng = random.Random(seed)
    items = list(range(1, ITEMS + 1))
    known = items[:-4] if "unseen" in traits else items
    weights = [1 / one for one in known]
    seen, lists = {}, {}
    for user in range(1, 15):
        seen[user] = sorted({rng.choices(known, weights)[0] for _ in range(rng.randint(2, 6))})
        free = [one for one in items if one not in seen[user]]
        size = rng.randint(1, 6) if "short" in traits else 6
        chosen: list[int] = []
        while len(chosen) < size:
            one = rng.choices(free, [1 / (1 + one % 9) for one in free])[0]
            chosen += [one] if one not in chosen else []
        lists[user] = chosen
    if "unseen" not in traits:  # everything was seen by someone
        held = {one for some in seen.values() for one in some}
        lists_of = sorted(set(items) - held)
        seen |= {100 + at: [one] for at, one in enumerate(lists_of)}
    if "absent" in traits:  # users who saw something and have no list
        for user in (3, 8):
            del lists[user]
    features = {one: [rng.randint(0, 1) for _ in range(5)] + [1] for one in items}
    likes = random.Random(seed + 100)  # those of some users; one of them has no list
    liked = {user: sorted(likes.sample(items, likes.randint(1, 8))) for user in range(1, 15, 2)}
    return {"lists": lists, "seen": seen, "features": features, "liked": liked}


def _make_frames(data: dict[str, Any], user: str, item: str) -> tuple[Any, Any]:
    import pandas as pd

    reco = [(u, i, r) for u, got in data["lists"].items() for r, i in enumerate(got, 1)]
    seen = [(u, i) for u, got in data["seen"].items() for i in got]
    return pd.DataFrame(reco, columns=[user, item, "rank"]), pd.DataFrame(
        seen, columns=[user, item]
    )


def ask_rectools(data: dict[str, Any]) -> dict[str, float]:
    import pandas as pd
    from rectools.metrics import (
        AvgRecPopularity,
        CatalogCoverage,
        IntraListDiversity,
        MeanInvUserFreq,
        Serendipity,
    )
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator

    reco, seen = _make_frames(data, "user_id", "item_id")
    catalog = range(1, ITEMS + 1)
    features = pd.DataFrame.from_dict(data["features"], orient="index")
    distance = PairwiseHammingDistanceCalculator(features)
    pairs = [(user, item) for user, got in data["liked"].items() for item in got]
    liked = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    return {
        f"Serendipity(k={K})": Serendipity(K).calc(reco, liked, seen, catalog),
        f"CatalogCoverage(k={K})": CatalogCoverage(K).calc(reco, catalog),
        f"CatalogCoverage(k={K},normalize=True)": CatalogCoverage(K, True).calc(reco, catalog),
        f"MeanInvUserFreq(k={K})": MeanInvUserFreq(K).calc(reco, seen),
        f"AvgRecPopularity(k={K})": AvgRecPopularity(K).calc(reco, seen),
        f"AvgRecPopularity(k={K},normalize=True)": AvgRecPopularity(K, True).calc(reco, seen),
        f"IntraListDiversity(k={K})": IntraListDiversity(K, distance).calc(reco),
    }


def ask_recommenders(data: dict[str, Any]) -> dict[str, float]:
    import pandas as pd
    from recommenders.evaluation import python_evaluation as tool

    reco, seen = _make_frames(data, "userID", "itemID")
    reco = reco[reco["rank"] <= K].drop(columns="rank")
    vectors = pd.DataFrame(
        {
            "itemID": list(data["features"]),
            "features": [np.array(v, float) for v in data["features"].values()],
        }
    )
    return {
        f"serendipity@{K}": tool.serendipity(
            seen, reco, item_feature_df=vectors, item_sim_measure="item_feature_vector",
            col_item_features="features",
        ),
        f"novelty@{K}": tool.novelty(seen, reco),
        f"catalog_coverage@{K}": tool.catalog_coverage(seen, reco),
        f"distributional_coverage@{K}": tool.distributional_coverage(seen, reco),
        f"diversity@{K}": tool.diversity(
            seen, reco, item_feature_df=vectors, item_sim_measure="item_feature_vector",
            col_item_features="features",
        ),
    }  # fmt: skip


class _Names(type):
    """Stands for a name of a module that is not used, and for decorators, which change nothing."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda given, *_: given


class _Stub(types.ModuleType):
    """Stands for a module whose names are imported and not used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Names(name, (), {})


def _stub(*names: str) -> None:
    for name in names:
        sys.modules.setdefault(name, _Stub(name))


def ask_recbole(data: dict[str, Any]) -> dict[str, float]:
    found = [Path(p) / "recbole" for p in sys.path if (Path(p) / "recbole").is_dir()]
    if not found:
        raise ImportError("no recbole")
    package = found[0]
    _stub("torch", "recbole.utils")
    for name in ("recbole", "recbole.evaluator"):
        module = sys.modules.setdefault(name, types.ModuleType(name))
        module.__path__ = [str(package / name.partition(".")[2])]
    sys.modules["recbole.utils"].EvaluatorType = types.SimpleNamespace(RANKING=1, VALUE=2)  # type: ignore[attr-defined]
    from recbole.evaluator import metrics as tool

    lists = list(data["lists"].values())
    if any(len(one) < K for one in lists):
        return {}  # its matrix has no shorter rows
    matrix = np.array([one[:K] for one in lists])
    counts: dict[int, int] = {}
    for got in data["seen"].values():
        for one in got:
            counts[one] = counts.get(one, 0) + 1
    parts = {
        "rec.items": types.SimpleNamespace(numpy=lambda: matrix),
        "data.num_items": ITEMS,
        "data.count_items": counts,
    }
    answers: dict[str, float] = {}
    for name in (
        "GiniIndex",
        "ShannonEntropy",
        "ItemCoverage",
        "AveragePopularity",
        "TailPercentage",
    ):
        config = {"topk": [K], "metric_decimal_place": 15, "tail_ratio": 0.1}
        [value] = getattr(tool, name)(config).calculate_metric(parts).values()
        answers[f"{name}@{K}"] = float(value)
    return answers


def ask_lenskit_2025(data: dict[str, Any]) -> dict[str, float]:
    _need("lenskit", "2025")
    _stub("torch")
    import pandas as pd
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.metrics.ranking import _gini, _pop

    _, seen = _make_frames(data, "user_id", "item_id")
    dataset = from_interactions_df(seen)
    lists = [ItemList(item_ids=np.array(one), ordered=True) for one in data["lists"].values()]
    gini = _gini.ListGini(K, items=ITEMS)
    pop = _pop.MeanPopRank(dataset, n=K)
    ranks = [pop.measure_list(one, ItemList()) for one in lists]
    counted = [gini.compute_list_data(one, None) for one in lists]
    return {
        f"ListGini(n={K})": float(gini.global_aggregate(counted)),
        f"MeanPopRank(n={K})": float(pd.Series(ranks).mean()),
    }


def ask_lenskit_2026(data: dict[str, Any]) -> dict[str, float]:
    _need("lenskit", "2026")
    from lenskit import metrics
    from lenskit.data import ItemList, Vocabulary, from_interactions_df

    _, seen = _make_frames(data, "user_id", "item_id")
    asked = {
        f"ListGini(n={K})": metrics.ListGini(K, items=Vocabulary(range(1, ITEMS + 1))),
        f"MeanPopRank(n={K})": metrics.MeanPopRank(from_interactions_df(seen), n=K),
        "UniqueItemCount": metrics.UniqueItemCount(),
    }
    answers = {}
    for name, metric in asked.items():
        total = metric.create_accumulator()
        for one in data["lists"].values():
            found = ItemList(item_ids=np.array(one), ordered=True)
            total.add(metric.measure_list(found, ItemList()))
        value = total.accumulate()
        answers[name] = float(value["mean"] if isinstance(value, dict) else value)
    return answers


def _need(package: str, year: str) -> None:
    """Raise ImportError where another version of the package is installed, or none."""
    if not version(package).startswith(year):
        raise ImportError(f"{package} {version(package)} is installed, not {year}")


def ask_evidently(data: dict[str, Any]) -> dict[str, float]:
    from evidently.legacy.metrics.recsys.diversity import DiversityMetric
    from evidently.legacy.metrics.recsys.novelty import NoveltyMetric
    from evidently.legacy.metrics.recsys.personalisation import PersonalizationMetric
    from evidently.legacy.metrics.recsys.popularity_bias import PopularityBias
    from evidently.legacy.pipeline.column_mapping import RecomType
    from sklearn.metrics import pairwise_distances

    reco, seen = _make_frames(data, "user", "item")
    users = seen.groupby("item")["user"].nunique()
    population = seen["user"].nunique()
    bias, how = PopularityBias(K), RecomType.RANK
    names = {one: at for at, one in enumerate(data["features"])}
    matrix = pairwise_distances(list(data["features"].values()), metric="cosine")
    popularity = {
        name: bias.get_apr(K, reco, users, normal, "rank", "user", "item")[0]
        for name, normal in (("arp", False), ("arp_normalized", True))
    }
    return {
        f"novelty@{K}": NoveltyMetric(K).get_miuf(
            reco, K, how, "user", "item", "rank", users / population
        )[1],
        **{f"{name}@{K}": value for name, value in popularity.items()},
        f"gini@{K}": bias.get_gini(K, reco, "rank", "item"),
        f"coverage@{K}": bias.get_coverage(K, reco, users, "rank", "item"),
        f"personalization@{K}": PersonalizationMetric(K).get_diversity(
            reco, "user", "item", "rank", K, how
        )[0],
        f"diversity@{K}": DiversityMetric(K, []).get_ild(
            reco, K, how, "user", "item", "rank", matrix, names
        )[1],
    }


def ask_elliot(data: dict[str, Any]) -> dict[str, float]:
    from elliot.evaluation.metrics.bias.arp.arp import ARP
    from elliot.evaluation.metrics.coverage.item_coverage.item_coverage import ItemCoverage
    from elliot.evaluation.metrics.diversity.gini_index.gini_index import GiniIndex
    from elliot.evaluation.metrics.diversity.shannon_entropy.shannon_entropy import ShannonEntropy

    lists = {user: [(one, 1.0) for one in got] for user, got in data["lists"].items()}
    users: dict[int, int] = dict.fromkeys(data["features"], 0)
    for got in data["seen"].values():
        for one in got:
            users[one] += 1
    objects = types.SimpleNamespace(
        cutoff=K, num_items=ITEMS, pop=types.SimpleNamespace(get_pop_items=lambda: users)
    )
    answers: dict[str, float] = {}
    for kind in (GiniIndex, ShannonEntropy, ItemCoverage):
        answers[f"{kind.name()}@{K}"] = float(kind(lists, None, None, objects).eval())
    per_user = ARP(lists, None, None, objects).eval_user_metric()
    answers[f"ARP@{K}"] = float(np.mean(list(per_user.values())))
    return answers


ASK: dict[str, tuple[Callable[[dict[str, Any]], dict[str, float]], str]] = {
    "recommenders": (ask_recommenders, "recommenders"),
    "rectools": (ask_rectools, "rectools"),
    "recbole": (ask_recbole, "recbole"),
    "lenskit-2025.8": (ask_lenskit_2025, "lenskit"),
    "lenskit-2026.4": (ask_lenskit_2026, "lenskit"),
    "evidently": (ask_evidently, "evidently"),
    "elliot": (ask_elliot, ""),
}
SETS = {
    "whole": (1, ""),
    "unseen items": (2, "unseen"),
    "short lists": (3, "short"),
    "absent users": (4, "absent, unseen"),
    "all": (5, "short, unseen, absent"),
}


def main() -> None:
    sources = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if sources is not None:
        sys.path.insert(0, str(sources))
    before = json.loads(JSON.read_text("utf-8")) if JSON.exists() else {"sets": {}, "versions": {}}
    versions, sets = before["versions"], {}
    for name, (seed, traits) in SETS.items():
        data = make_data(seed, traits)
        answers = before["sets"].get(name, {}).get("answers", {})
        for tool, (ask, package) in ASK.items():
            try:
                got = ask(data)
                if package:
                    versions[tool] = version(package)
                elif sources is not None:
                    versions[tool] = (sources / "COMMIT").read_text().strip()
            except ImportError as error:
                print(f"{tool}: {error}")  # noqa: T201
                continue
            answers[tool] = {one: float(value) for one, value in got.items()}
        sets[name] = {**data, "answers": answers}
    text = json.dumps({"k": K, "items": ITEMS, "versions": versions, "sets": sets}, indent=None)
    JSON.write_text(
        text.replace('"lists"', '\n"lists"').replace('"answers"', '\n"answers"') + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
