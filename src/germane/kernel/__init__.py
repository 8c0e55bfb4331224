"""The kernel: reduces a run to its judged items and their ranks, in C or in plain NumPy."""
