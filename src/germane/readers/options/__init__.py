"""Reads what options say of queries and items: candidates, groups, catalogues, texts."""
