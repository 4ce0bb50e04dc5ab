"""The collaborator: the one way the app reaches a server. Import its modules; this file stays empty."""
