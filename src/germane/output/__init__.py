"""Output: tables as text, CSV, LaTeX and HTML; pictures; writing files."""
