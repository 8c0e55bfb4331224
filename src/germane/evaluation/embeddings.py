"""evaluate_embeddings: nearest neighbours by embedding, judged by labels or qrels."""

from typing import TYPE_CHECKING, Unpack

from germane.core.progress import Progress, make_progress
from germane.errors import FormatError, InputError, PolicyError, write_option
from germane.evaluation.accepted import Ids, Judgments, LabelList, Places, Vectors
from germane.evaluation.api import evaluate
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.opening import Held, open_data
from germane.evaluation.result import Result
from germane.measures.measure import Measures
from germane.readers import Labels

if TYPE_CHECKING:
    from germane.readers.objects.embeddings import Similarity


def evaluate_embeddings(  # type: ignore[misc]  # query_ids is an option of other functions
    queries: Vectors,
    gallery: Vectors,
    measures: Measures = DEFAULT,
    *,
    query_labels: LabelList | None = None,
    gallery_labels: LabelList | None = None,
    cameras: tuple[LabelList, LabelList] | None = None,
    qrels: Judgments | None = None,
    query_ids: Ids | None = None,
    gallery_ids: Ids | None = None,
    similarity: "Similarity" = "cosine",
    exclude_self: Places = False,
    name: str = "embeddings",
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Result:
    """Rank the whole gallery for every query by the similarity of embeddings, and compute measures.

    >>> import numpy as np
    >>> x = np.array([[0.9, 0.1], [0.8, 0.3], [0.1, 0.9], [0.6, 0.5]])
    >>> y = ["cat", "cat", "dog", "dog"]
    >>> result = germane.evaluate_embeddings(
    ...     x, x, "AP", query_labels=y, gallery_labels=y, exclude_self=True
    ... )
    >>> result["AP"].per_query
    {0: 1.0, 1: 1.0, 2: 1.0, 3: 0.3333333333333333}

    ``queries`` (Q, D) and ``gallery`` (N, D): arrays of NumPy, PyTorch, JAX or CuPy. Queries and
    items are numbered from 0, and tied items keep the order of the gallery. Similarities are
    computed in double precision, so that equal vectors are tied. The memory is that of a copy of
    both arrays, and of one block of similarities.

    Relevance: ``query_labels`` and ``gallery_labels``, with or without ``cameras``, as in
    ``germane.Labels``, or ``qrels``: graded (Q, N) arrays, a CSR matrix,
    ``{query: {item: grade}}`` or any other qrels of numbered items.

    ``similarity``: cosine (a vector of zeros is an error), dot, or euclidean (the nearest
    first). ``query_ids`` and ``gallery_ids``: different texts or whole numbers, which qrels and
    ``per_query`` then use. ``collapse`` gives the document of each chunk: one for each item of the
    gallery, or as in ``germane.evaluate``. A document has the similarity of its best chunk.
    ``exclude_self=True`` excludes item i of the gallery for query i, or with ids, the item with the
    query's id; otherwise give the position of each query in the gallery, -1 for none.
    ``progress(name, queries done, queries)`` is called after each block. Conventions and errors are
    those of ``germane.evaluate``.
    """
    progress = make_progress(progress)
    from germane.readers.objects import array_ids, embeddings

    if "item_ids" in policy:
        raise InputError("the ids of the gallery are gallery_ids=.")
    if exclude_self is True and query_ids is not None and gallery_ids is not None:
        exclude_self = array_ids.find_own_places(query_ids, gallery_ids)
    run = embeddings.read_embeddings(queries, gallery, similarity, exclude_self, name)
    has_labels = [side is not None for side in (query_labels, gallery_labels, qrels)]
    if has_labels not in ([True, True, False], [False, False, True]):
        raise InputError("give either query_labels and gallery_labels, or qrels.")
    if qrels is not None and cameras is not None:
        raise InputError(
            f"cameras= go with query_labels= and gallery_labels=; {write_option('ignore')} has"
            " junk."
        )
    if qrels is None:
        qrels = Labels(query_labels, gallery_labels, cameras=cameras)
        if qrels.shape != run.shape:
            raise FormatError(
                f"there are {qrels.shape[0]} query labels and {qrels.shape[1]} gallery labels for "
                f"{run.shape[0]} queries and {run.shape[1]} items."
            )
    if similarity == "euclidean" and policy.get("max_distance") is not None:
        raise PolicyError(
            "max_distance is for distances that you give, and similarity=euclidean orders the"
            " gallery without a limit. germane.evaluate(qrels, (distances, ids),"
            " scores='distances', max_distance=…) has one."
        )
    ids = array_ids.read_gallery_ids(query_ids, gallery_ids, run.shape)
    data = open_data(qrels, {**policy, **ids})
    named, conventions = data.open_run(run)
    assert isinstance(named, embeddings.Embeddings)
    plan = data.options.make_plan(measures, conventions)
    judgments = data.read(plan.needs, [named], progress)
    data = data.judge_by(named.drop_excluded(judgments))
    names = measures if isinstance(measures, (str, list, tuple)) else tuple(plan.policies)
    return evaluate(data, Held(named), names, name=name, progress=progress)
