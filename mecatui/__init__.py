"""The app: what a person sees and types."""
