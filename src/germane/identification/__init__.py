"""Identification: which definition a function or a program computes."""
