"""trec_eval, NIST's program of that name: its flags, its measures and its output, byte for byte.

The values are germane's measures, under trec_eval's conventions; what it adds to them, and where it
departs from them, stands here and nowhere else.
"""

from germane.trec_eval.evaluation import evaluate
from germane.trec_eval.options import TrecEvalError

__all__ = ["TrecEvalError", "evaluate"]
