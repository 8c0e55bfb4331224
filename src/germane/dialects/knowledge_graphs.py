"""Missing links of graphs, each ranked among other candidates."""

from germane.dialects.dialect import Absent, Dialect, Entry, Limit

_ONE = "Each true link is ranked by itself among others: one relevant item per query."

DIALECTS = (
    Dialect(
        "ogb",
        tool="Open Graph Benchmark",
        version="1.3.6",
        judging={"ties": "middle", "missing": "skip"},
        measuring=(
            Entry("mrr_list", "RR"),
            Entry("hits@1_list", "Success@1"),
            Entry("hits@3_list", "Success@3"),
            Entry("hits@10_list", "Success@10"),
        ),
        why=(
            "A link has the middle of the ranks of its score: half of the other links with this"
            " score stand above it. Arrays have to be PyTorch's; with NumPy's it raises an error."
        ),
        source="ogb/linkproppred/evaluate.py::_eval_mrr",
        limits=(
            Limit("several", _ONE),
            Limit("no_relevant", "A query without a true link does not exist."),
            Limit("missed", "Every link has a score."),
        ),
        absent=(
            Absent(
                ("hits",),
                "it ranks all true links among one list of others, and not each query by itself.",
            ),
        ),
    ),
    Dialect(
        "pykeen",
        tool="PyKEEN",
        version="1.11.1",
        judging={"ties": "middle", "missing": "skip"},
        measuring=(
            Entry("inverse_harmonic_mean_rank", "RR"),
            Entry("hits_at_{k}", "Success@{k}"),
            Entry("arithmetic_mean_rank", "LastRank"),
            Entry("optimistic.inverse_harmonic_mean_rank", "RR", {"ties": "best"}),
            Entry("optimistic.hits_at_{k}", "Success@{k}", {"ties": "best"}),
            Entry("optimistic.arithmetic_mean_rank", "LastRank", {"ties": "best"}),
            Entry("pessimistic.inverse_harmonic_mean_rank", "RR", {"ties": "worst"}),
            Entry("pessimistic.hits_at_{k}", "Success@{k}", {"ties": "worst"}),
            Entry("pessimistic.arithmetic_mean_rank", "LastRank", {"ties": "worst"}),
        ),
        why=(
            "The realistic rank, which names without a prefix have, is the middle of the ranks of"
            " equal scores; the optimistic one is the first, the pessimistic one the last. Other"
            " true entities are taken out before, as ignore= does."
        ),
        source="pykeen/evaluation/ranks.py::Ranks.from_scores",
        limits=(
            Limit("several", _ONE),
            Limit("no_relevant", "A query without a true entity does not exist."),
            Limit("missed", "Every entity has a score."),
        ),
    ),
)
