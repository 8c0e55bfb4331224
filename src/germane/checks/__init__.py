"""Checks: what bends numbers, one small function a kind of finding, in one literal table."""
