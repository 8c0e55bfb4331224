"""Reads files of every format."""
