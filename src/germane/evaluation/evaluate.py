"""Evaluates: evaluate, evaluate_many, evaluate_embeddings, score, and what reads in advance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import numpy as np

from germane.checks.evaluated import check_evaluation
from germane.core.calls import Progress, make_progress
from germane.core.finding import Finding, warn
from germane.core.policy import Duplicates, Policy
from germane.core.qrels import IdNames, Qrels, Sample
from germane.dialects.names import parse
from germane.errors import FormatError, InputError, PolicyError, check_choice, clip, write_option
from germane.evaluation.choices import (
    DEFAULT,
    Choices,
    Ids,
    Judgments,
    LabelList,
    Places,
    Plan,
    Run,
    Source,
    Vectors,
)
from germane.evaluation.fingerprints import RunFingerprint, fingerprint_options, make_fingerprint
from germane.evaluation.judging import JudgedRun, Placement, state_duplicates
from germane.evaluation.opening import Held, Inputs, check_runs, open_data, open_options
from germane.evaluation.result import Counts, Result, Results
from germane.evaluation.special_queries import refuse_undefined, settle
from germane.measures import TABLE
from germane.measures.averaging import MeasureResult, QueryValues
from germane.measures.measure import Measure, Measures
from germane.readers import (
    InputFormat,
    Labels,
    Needs,
    ReadOptions,
    RepeatedLabels,
    is_searched,
    open_qrels,
    open_run,
    refuse_ambiguous,
)
from germane.readers.files.formats import check_path
from germane.readers.objects.relevance import make_collection, make_ranking

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect
    from germane.readers.files import trec_files
    from germane.readers.objects.embeddings import Similarity
    from germane.readers.objects.frames import Frame


def evaluate(
    qrels: Judgments,
    run: Run,
    measures: Measures = DEFAULT,
    *,
    name: str | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Result:
    """Evaluate a run with qrels.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d4": 0.7, "d3": 0.6}}
    >>> germane.evaluate(qrels, run, "AP nDCG@10")["AP"].mean
    0.75

    ``qrels`` is the path of a file, a frame, ``{query: {item: grade}}``, ``{query: relevant
    items}``, or what ``read_qrels`` returned. ``run`` is the path of a file (``-`` is standard
    input), a frame, ``{query: {item: score}}``, ranked lists ``{query: [item, …]}``, or what
    ``read_run`` returned. Both can also be rows of namedtuples, such as ``Qrel`` and ``ScoredDoc``
    of ir_datasets, or arrays. ``measures`` are names such as ``"AP AP@10"``, measures such as
    ``[AP, AP @ 10]``, or both. In arrays, rows are queries and columns are items, numbered from
    0. Grades and floating-point scores have the same shape (Q, N), and a masked cell is missing.
    Whole numbers (Q, K) are the ids of the best K items, -1 for none; the qrels are then a list of
    sets, a CSR matrix or ``germane.Labels``. Flat grades and scores need ``group``: a group id for
    each item, or the size of each group.

    ``query_ids`` and ``item_ids`` name the rows and columns of arrays. A run may be a pair of
    arrays (Q, K), scores and ids, as a vector search returns them. ``collapse`` ranks groups
    instead of items, such as documents instead of their chunks: ``{item: group}``, a function, a
    file or a frame of two columns, or one group for each column of an array. A group has the score
    of its best item. ``scores="distances"`` ranks the lowest number first.

    The format of a file follows from its suffix or from ``input_format``: trec, parquet, arrow,
    csv, tsv, json, jsonl, msmarco or letor (svmlight); ``{"run": "jsonl"}`` sets that of the run
    alone. If the qrels are a LETOR file, the run may be a file with one score on each line
    (``scores``), or a flat array. A frame is anything with Arrow columns: from Polars, pandas,
    PyArrow or DuckDB. Columns have the usual names, or those in ``columns={"query": "customer",
    "item": "film"}``. A compressed file may expand to 1000 times its size, and a line may have 1
    MB; ``max_expansion`` and ``max_line`` set other limits, or ``none``.

    The conventions (see ``germane.Policy``) are ``duplicates``, ``ties``, ``missing``,
    ``unjudged``, ``no_relevant``, ``depth``, and rarer ones. ``dialect`` adopts the conventions of
    another tool, such as ``"trec_eval-9"``, and its names of measures. ``progress=True`` shows on
    standard error how much of large files has been read; a function is called with the name of a
    file, the bytes read, and the size of the file or None; in longer work also with a step, such as
    ``"runs"``, how many are done, and their number.

    Raises MeasureError, PolicyError, InputError or CoverageError, all of them GermaneError. Warns
    with GermaneWarning about problems that can distort your results; ``findings`` of the result
    lists them, too.
    """
    progress = make_progress(progress)
    if not (name is None or isinstance(name, str)):
        raise InputError(f"runs are named by text; got {clip(name)}")
    data = open_data(qrels, policy)
    opened, conventions = data.open_run(run)
    if data.signs:
        opened = opened.sign()
    plan = data.options.make_plan(measures, conventions)
    collection = data.collect(opened, plan.policies, plan.groups, progress)
    judged = [
        collection.judge(run_conventions, chosen) for run_conventions, chosen in plan.groups.items()
    ]
    dialect, ordered = data.options.dialect, collection.is_ordered
    content = RunFingerprint(opened, run, judged[0].qrels)
    reading = data.options.held
    return finish_result(
        name or opened.name, plan, judged, reading, dialect, ordered, collection.sample, content,
        run_id_names=opened.id_names,
    )  # fmt: skip


def finish_result(
    name: str,
    plan: Plan,
    judged: Sequence[JudgedRun],
    reading: ReadOptions,
    dialect: "Dialect | None" = None,
    ordered: Callable[[], bool | None] = lambda: None,
    sample: Callable[[int], Sample] | None = None,
    run_fingerprint: Callable[[], str | None] = lambda: None,
    *,
    run_id_names: IdNames | None = None,
) -> Result:
    """Make the result of a run judged under each policy of a plan, and warn of findings.

    ``ordered()`` returns whether the run's rows stand in the order of their scores, or None if
    unknown. ``run_id_names`` are its columns of ids, which count if the qrels name none.
    """
    computed: dict[Measure, MeasureResult] = {}
    for chosen, judged_run in zip(plan.groups.values(), judged, strict=True):
        computed |= compute_measures(chosen, judged_run)
    if len(judged) > 1:  # back in the order asked for
        computed = {measure: computed[measure] for measure in plan.policies}
    first = judged[0] if judged[0].lists is None else replace(judged[0], lists=None)
    findings = check_evaluation(first, first.rank(first.policy.ties), computed, sample)
    limits: dict[str, tuple[Measure, ...]] = {}
    if dialect is not None and dialect.limits:
        from germane.evaluation.bounds import find_limits, make_findings

        groups = zip(plan.groups.values(), judged, strict=True)
        evaluated = (
            (computed[judged_run], measures_of_group)
            for chosen, measures_of_group in groups
            for judged_run in chosen
        )
        limits = find_limits(dialect, evaluated, ordered)
        findings = (*findings, *make_findings(dialect, limits, len(first.qrels)))
    result = Result(
        name,
        computed,
        partial(_make_counts, first),
        state_duplicates(plan.conventions, first.qrels),
        partial(Placement, first),
        findings,
        dialect=dialect,
        policies=plan.own,
        limits=limits,
        renamed=plan.renamed,
        fingerprint=partial(make_fingerprint, first.qrels),
        run_fingerprint=run_fingerprint,
        option_fingerprints=fingerprint_options(first.qrels, reading),
        id_names=first.qrels.id_names or run_id_names,
    )
    if findings:
        warn(result.name, findings)
    return result


def evaluate_many(
    qrels: Judgments,
    runs: Mapping[str, Run],
    measures: Measures = DEFAULT,
    *,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Results:
    """Evaluate several runs on the same judgments.

    >>> runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}
    >>> germane.evaluate_many({"q": {"d": 1}}, runs, "RR")["b"]["RR"].mean
    0.0

    ``runs`` maps the name of each run to the run; the other arguments are the same as for
    ``evaluate``. The result maps the names to a ``Result`` each, and prints as one table.
    """
    progress = make_progress(progress)
    check_runs(runs)
    data = open_data(qrels, policy)
    data.options.make_plan(measures, data.conventions)  # refuses measures before data are read
    for run in runs.values():
        refuse_ambiguous(data.qrels, run)
    results = {}
    for number, (name, run) in enumerate(runs.items()):
        if progress is not None and len(runs) > 1:
            progress("runs", number, len(runs))
        results[name] = evaluate(data, run, measures, name=name, progress=progress)
    return Results(results)


def score(
    relevance: Iterable[Any],
    measure: str | Measure = "AP",
    *,
    relevant: int | Iterable[Any] | None = None,
    dialect: "str | Dialect | None" = None,
) -> float:
    """Compute one measure of one list, given as the grades of its items in rank order.

    >>> round(germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3), 3)
    0.369

    ``relevant`` is the total number of relevant items, or a list of their grades; by default, all
    of them are in the list. If it is a number, the items outside the list have the lowest relevant
    grade: ``rel``, or 1. For measures of subtopics, the list contains the subtopics of each item,
    ``[{"a"}, {"a", "b"}]`` or with grades, and ``relevant`` those of the items outside it.
    ``dialect`` computes what another tool reports for the list, under the tool's name for a
    measure. The value is nan if the measure leaves out such a list, as GAUC does if all items are
    of one kind. Raises MeasureError, GradeError or InputError.
    """
    if dialect is not None:
        options = open_options({"dialect": dialect})
        rel = options.read_measure(measure).rel or 1.0
        judged, run = make_collection(relevance, relevant, rel)
        [result] = evaluate(Inputs(judged, options), run, measure).values()
        return result.mean
    measure = parse(measure)
    rel = 1.0 if measure.rel is None else measure.rel
    ranking = make_ranking(relevance, relevant, rel, covers=measure.row.subtopics)
    return float(settle(measure, ranking, Policy(), None).values[0])


def read_qrels(
    path: Source,
    *,
    duplicates: Duplicates = "error",
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
    max_expansion: float | Literal["none"] | None = None,
    max_line: float | Literal["none"] | None = None,
    second_column: Literal["unused", "subtopic"] = "unused",
    progress: Progress | bool | None = None,
) -> Qrels:
    """Read qrels from a file or a frame once, in order to evaluate several runs with them.

    >>> germane.read_qrels("examples/digits/qrels.txt")
    Qrels('qrels': 200 queries, 31940 judgments)

    Lines of a TREC file are ``query 0 item grade``, separated by blanks or tabs; blank lines and
    comments are skipped. Files compressed with gzip, bzip2, xz or Zstandard are recognized. Other
    files and frames have columns, as in ``evaluate``. For measures of subtopics,
    ``second_column="subtopic"`` reads the second column of a TREC file, or a column ``iteration``.
    Raises InputError, which names the file and the line.
    """
    progress = make_progress(progress)
    check_choice("second_column", second_column, ("unused", "subtopic"), InputError)
    needs = Needs(subtopics=second_column if second_column == "subtopic" else "")
    duplicates = Policy(duplicates=duplicates).duplicates
    reading = ReadOptions(columns, input_format, None, max_expansion, max_line)
    if not is_searched(path):
        check_path(path)
    judgments = open_qrels(path, reading).read(duplicates, progress, needs)
    return replace(judgments, duplicates=duplicates)


def read_run(
    path: Source,
    *,
    columns: Mapping[str, Any] | None = None,
    input_format: InputFormat = None,
    max_expansion: float | Literal["none"] | None = None,
    max_line: float | Literal["none"] | None = None,
    progress: Progress | bool | None = None,
) -> "trec_files.Run | Frame":
    """Read a run from a file or a frame into memory once, in order to evaluate it several times.

    >>> germane.read_run("examples/digits/lda.run")
    Run('lda': 200 queries, 20000 results)

    Lines of a TREC file are ``query Q0 item rank score tag``; the order comes from the scores.
    Other files and frames have columns, as in ``evaluate``. If you evaluate a run only once, pass
    its path to ``evaluate``, which needs less memory. Raises InputError, which names the file and
    the line.
    """
    progress = make_progress(progress)
    reading = ReadOptions(columns, input_format, None, max_expansion, max_line)
    if not is_searched(path):
        check_path(path)
    return cast("trec_files.Run | Frame", open_run(path, reading).hold(progress))


def measures() -> tuple[Measure, ...]:
    """List every measure of judged items with its default parameters, in the order of the tables.

    ``germane measures`` also lists the measures of the catalogue, such as Coverage.

    >>> germane.measures()[7]
    P
    """
    return tuple(Measure(row.name) for row in TABLE)


def compute_measures(
    chosen: tuple[Measure, ...], judged: JudgedRun
) -> dict[Measure, MeasureResult]:
    """Compute several measures of a judged run, under its policy."""
    policy = judged.policy
    of_lists: tuple[Measure, ...] = ()
    if judged.lists is not None:
        of_lists = tuple(m for m in chosen if m.row.of_catalogue)
    if of_lists:
        from germane.evaluation.whole_lists import compute_list_measures

        rest = tuple(measure for measure in chosen if measure not in of_lists)
        without_lists = replace(judged, lists=None)  # which hold the run, and results do not
        computed = compute_measures(rest, without_lists) | compute_list_measures(of_lists, judged)
        return {measure: computed[measure] for measure in chosen}
    ranking, kinds = judged.rank(policy.ties), judged.kinds
    results: dict[Measure, MeasureResult] = {
        measure: settle(measure, ranking, policy, kinds, partial(_settle_under, measure, judged))
        for measure in chosen
    }
    if policy.undefined == "error":
        for result in results.values():
            refuse_undefined(result)
    return results


def _settle_under(measure: Measure, judged: JudgedRun, order: str) -> QueryValues | None:
    """Compute a measure under another order of ties; None if no judged item is tied."""
    ranking = judged.reorder(order)
    return None if ranking is None else settle(measure, ranking, judged.policy, judged.kinds)


def _make_counts(judged: JudgedRun) -> Counts:
    qrels, retrieved = judged.qrels, judged.retrieved
    answered = int(np.count_nonzero(judged.kept))  # an empty list may count as missing
    reached = np.ones(len(retrieved.judgment), bool)
    if judged.policy.depth is not None:
        reached = retrieved.tied_from <= judged.policy.depth
    return Counts(
        judged=len(qrels),
        answered=answered,
        missing=len(qrels) - answered,
        without_relevant=int(np.count_nonzero(judged.relevant == 0)),
        unjudged_queries=len(retrieved.unknown),
        judged_items_retrieved=int(np.count_nonzero(reached)),
        tied=int(np.count_nonzero(judged.tied & reached)),
        comments=qrels.source.comments + retrieved.comments,
        collapsed=0 if retrieved.rows is None else int(retrieved.rows.sum()),
        groups=0 if retrieved.rows is None else int(retrieved.retrieved.sum()),
        excluded=0 if retrieved.excluded is None else int(retrieved.excluded.sum()),
        ignored=qrels.ignored,
        subtopics=0 if judged.cells is None else len(judged.cells),
    )


# --- evaluate_embeddings: nearest neighbours by embedding, judged by labels or qrels --------------


def evaluate_embeddings(  # type: ignore[misc]  # query_ids is an option of other functions
    queries: Vectors,
    gallery: Vectors,
    measures: Measures = DEFAULT,
    *,
    query_labels: LabelList | None = None,
    gallery_labels: LabelList | None = None,
    cameras: tuple[LabelList, LabelList] | None = None,
    repeated_labels: RepeatedLabels = "each",
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

    ``queries`` (Q, D) and ``gallery`` (N, D) are arrays of NumPy, PyTorch, JAX or CuPy. Queries and
    items are numbered from 0, and tied items keep the order of the gallery. Similarities are
    computed in double precision, so that equal vectors are tied. This takes the memory of a copy of
    both arrays and of one block of similarities.

    Relevance comes from ``query_labels`` and ``gallery_labels``, with or without ``cameras`` and
    ``repeated_labels="first"``, as in ``germane.Labels``, or from ``qrels``: graded (Q, N) arrays,
    a CSR matrix, ``{query: {item: grade}}`` or any other qrels of numbered items.

    ``similarity`` is cosine (a vector of zeros is then an error), dot, or euclidean (the nearest
    first). ``query_ids`` and ``gallery_ids`` are texts or whole numbers, all different, which
    qrels and ``per_query`` then use. ``collapse`` gives the document of each chunk: one for each
    item of the gallery, or as in ``germane.evaluate``. The similarity of a document is that of
    its best chunk. ``exclude_self=True`` excludes item i of the gallery for query i, or with
    ids, the item that has the query's id. If the queries are elsewhere in the gallery, pass the
    position of each instead, or -1 for none. ``progress(name, queries done, queries)`` is called
    after each block. Conventions and errors are the same as for ``germane.evaluate``.
    """
    progress = make_progress(progress)
    from germane.readers.objects import embeddings, item_ids

    if "item_ids" in policy:
        raise InputError("the ids of the gallery are passed as gallery_ids=.")
    if exclude_self is True and query_ids is not None and gallery_ids is not None:
        exclude_self = item_ids.find_own_places(query_ids, gallery_ids)
    run = embeddings.read_embeddings(queries, gallery, similarity, exclude_self, name)
    has_labels = [side is not None for side in (query_labels, gallery_labels, qrels)]
    if has_labels not in ([True, True, False], [False, False, True]):
        raise InputError("give either query_labels and gallery_labels, or qrels.")
    if qrels is not None:
        _refuse_options_of_labels(cameras, repeated_labels)
    else:
        qrels = Labels(
            query_labels, gallery_labels, cameras=cameras, repeated_labels=repeated_labels
        )
        if qrels.shape != run.shape:
            raise FormatError(
                f"there are {qrels.shape[0]} query labels for {run.shape[0]} queries, and"
                f" {qrels.shape[1]} gallery labels for {run.shape[1]} items."
            )
    if similarity == "euclidean" and policy.get("max_distance") is not None:
        raise PolicyError(
            "max_distance is for distances that you pass, but similarity=euclidean orders the"
            " gallery without a limit. To set one, use germane.evaluate(qrels, (distances, ids),"
            " scores='distances', max_distance=…)."
        )
    ids = item_ids.read_gallery_ids(query_ids, gallery_ids, run.shape)
    data = open_data(qrels, {**policy, **ids})
    named, conventions = data.open_run(run)
    assert isinstance(named, embeddings.Embeddings)
    plan = data.options.make_plan(measures, conventions)
    judgments = data.read(plan.needs, [named], progress)
    data = data.judge_by(named.drop_excluded(judgments))
    names = measures if isinstance(measures, (str, list, tuple)) else tuple(plan.policies)
    result = evaluate(data, Held(named), names, name=name, progress=progress)
    is_among_itself = queries is gallery and exclude_self is False and query_labels is not None
    if is_among_itself and cameras is None and not {"exclude", "only", "ignore"} & policy.keys():
        finding = Finding(
            "serious",
            "the query is its first result",
            "queries and gallery are the same array, so every query finds itself, with its label",
            run.shape[0],
            advice="exclude_self=True leaves it out.",
        )
        result.findings = (*result.findings, finding)
        warn(result.name, [finding])
    return result


def _refuse_options_of_labels(
    cameras: tuple[LabelList, LabelList] | None, repeated_labels: RepeatedLabels
) -> None:
    """Refuse options of labels where relevance comes from qrels."""
    if cameras is not None:
        raise InputError(
            "cameras= go with query_labels= and gallery_labels=; with qrels, pass junk as"
            f" {write_option('ignore')}."
        )
    if repeated_labels != "each":
        raise InputError(
            "repeated_labels= goes with query_labels= and gallery_labels=;"
            f" {write_option('collapse')} ranks groups of items."
        )
