"""Every verb, kind of input and option on rows, as three tables, and what is refused where they meet.

``verbs.VERBS``, ``kinds.KINDS`` and ``options.OPTIONS`` are the tables: a line in one of them is crossed with all of
the others. ``table.Table`` runs a cell; its outcome is that of dicts with the same data, or the refusal that
``refusals.REFUSED`` states. ``docs/generate_options.py`` prints the same tables.
"""
