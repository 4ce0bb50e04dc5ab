"""Which build this is."""

from importlib.metadata import PackageNotFoundError, version


def build_id() -> str:
    """The version of the installed distribution."""
    try:
        return version("mecatui")
    except PackageNotFoundError:
        return "unpackaged"
