"""Sessions: their state machine, their runs, and the reload."""
