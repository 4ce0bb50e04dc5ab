"""Tools that a run can call."""
