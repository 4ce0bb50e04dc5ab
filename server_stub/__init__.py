"""The server: agent sessions over HTTP, with skills that reload per session."""
