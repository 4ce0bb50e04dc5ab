"""The app: what a person sees and types."""

__version__ = "0.1.0"
