"""The stand-in for NIST's program trec_eval: its flags, its measures and its output, byte for byte.

The values are germane's measures under trec_eval's conventions. Everything that trec_eval adds to
them, or does differently, is in this folder.
"""

from germane.trec_eval.command_line import TrecEvalError
from germane.trec_eval.evaluation import evaluate

__all__ = ["TrecEvalError", "evaluate"]
