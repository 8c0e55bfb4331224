"""Reports: one self-contained HTML page about several runs."""
