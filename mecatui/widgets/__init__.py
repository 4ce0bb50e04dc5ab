"""Parts of screens; they show values and post messages, and never call the client."""
