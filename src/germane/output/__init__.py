"""Output: tables as text, CSV, LaTeX and HTML."""
