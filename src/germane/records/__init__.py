"""Records: results as files, their checks, and what computes them again."""
