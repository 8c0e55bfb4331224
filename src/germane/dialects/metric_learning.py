"""PyTorch Metric Learning, and Open Metric Learning."""

from germane.dialects.dialect import Dialect, Foreign, Limit

PYTORCH_METRIC_LEARNING = Dialect(
    "pytorch-metric-learning",
    tool="PyTorch Metric Learning",
    version="2.9.0",
    judging={"ties": "given", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Foreign("mean_average_precision", "AP(norm=R)"),
        Foreign("mean_average_precision(k={k})", "AP(norm=R)@{k}"),
        Foreign("mean_average_precision_at_r", "APR"),
        Foreign("r_precision", "Rprec"),
        Foreign("precision_at_1", "P@1"),
        Foreign("mean_reciprocal_rank", "RR"),
        Foreign("mean_reciprocal_rank(k={k})", "RR@{k}"),
        Foreign("mean_average_precision(k=max_bin_count)", "APR"),
    ),
    why="mean_average_precision divides by all references of the label; ..._at_r looks at the first "
    "R ranks. Queries whose label no reference has are left out.",
    source="utils/accuracy_calculator.py",
    limits=(
        Limit("no_relevant", "Where no query has a reference of its label, NaN or an IndexError."),
        Limit("shallow", "MAP@R and R-precision with k below R: fewer neighbors than they need."),
        Limit("short", "Fewer references than k."),
    ),
)

OPEN_METRIC_LEARNING = Dialect(
    "open-metric-learning",
    tool="Open Metric Learning",
    version="4.0.0",
    reading={"duplicates": "again"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("calc_map(top_k={k})", "AP(norm=found)@{k}"),
        Foreign("calc_precision(top_k={k})", "R(norm=possible)@{k}", {"no_relevant": "nan"}),
        Foreign("calc_cmc(top_k={k})", "Success@{k}"),
    ),
    why="calc_map divides by the relevant items found; calc_precision by R, k or the length of the "
    "list, whichever is least.",
    source="functional/metrics.py",
)
