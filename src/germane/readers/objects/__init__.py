"""Reads objects of Python: mappings, hits, frames, arrays and embeddings."""
