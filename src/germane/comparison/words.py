"""The words in which a comparison is asked for."""

from typing import Literal, TypeAlias, get_args

TestName: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign", "tukey"]
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Family: TypeAlias = Literal["measure", "all"]

WORDS: dict[str, tuple[str, ...]] = {
    "test": get_args(TestName),
    "correction": get_args(Correction),
    "family": get_args(Family),
}
