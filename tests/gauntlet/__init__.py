"""Hostile inputs: files, parameters and objects as they are found, and what germane does with each.

Each case is data and one of three outcomes: ``value`` (these numbers, in silence), ``warns`` (these
numbers, and a warning that says why not to trust them) or ``refused`` (an error whose message holds
these words). Expected numbers come from the oracle.
"""
