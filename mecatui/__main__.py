"""`python -m mecatui`."""

import sys

from mecatui.cli import main

if __name__ == "__main__":
    sys.exit(main())
