"""Engines: all that one run uses, frozen."""
