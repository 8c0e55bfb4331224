"""TorchEval."""

from germane.dialects.dialect import Dialect, Foreign, Limit

TORCHEVAL = Dialect(
    "torcheval",
    tool="TorchEval",
    version="0.0.7",
    reading={"scores": "single"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("retrieval_precision(k={k})", "P@{k}"),
        Foreign(
            "retrieval_precision(k={k},limit_k_to_size=True)",
            "P(norm=retrieved)@{k}",
            {"empty": "nan"},
        ),
        Foreign("binary_auprc", "AP(norm=R)", {"ties": "grouped"}),
    ),
    why="binary_auprc takes equal scores as one step.",
    source="metrics/functional/ranking/retrieval_precision.py",
    limits=(Limit("tied", "torch.topk leaves the order of equal scores open.", order=True),),
    sees="list",
)
