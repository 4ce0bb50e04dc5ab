"""Everything after the slash."""
