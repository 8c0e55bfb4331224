"""The kernel: what a run retrieved of the judgments, compiled or in plain NumPy and Arrow."""
