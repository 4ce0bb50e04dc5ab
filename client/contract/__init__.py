"""Everything that crosses the wire, and nothing else: a leaf that both sides import."""
