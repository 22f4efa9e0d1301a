"""Unit tests, without a host: `python3 -m unittest` in `sdk/python`."""
