"""The version of germane."""

VERSION = "0.2.0"
