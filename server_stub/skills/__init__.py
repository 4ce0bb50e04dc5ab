"""Skills: from folders on disk to an immutable snapshot."""
