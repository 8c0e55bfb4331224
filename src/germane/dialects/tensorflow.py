"""TensorFlow and Keras."""

from germane.dialects.dialect import Dialect, Foreign, Limit

TENSORFLOW = Dialect(
    "tensorflow",
    tool="TensorFlow",
    version="2.15.1",
    reading={"scores": "single"},
    judging={"ties": "given", "missing": "skip", "empty": "missing", "short": "error"},
    averaging={"no_relevant": "skip"},
    measuring=(Foreign("average_precision_at_k(k={k})", "AP@{k}"),),
    why="tf.compat.v1.metrics.average_precision_at_k divides by min(R,k), and needs k classes. Keras' AUC of "
    "precision and recall, which takes the curve at a grid of thresholds, has no counterpart.",
    source="python/ops/metrics_impl.py",
    limits=(Limit("no_relevant", "Needs a label."),),
)
