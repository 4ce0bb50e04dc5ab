"""The web edge: the only code that knows Starlette."""
