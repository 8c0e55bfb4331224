"""The version of germane."""

VERSION = "0.1.0"
