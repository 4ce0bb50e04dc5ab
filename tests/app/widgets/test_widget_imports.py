"""The widgets load nothing heavy: the first frame needs no Markdown, no lexers and no client."""

import subprocess
import sys
from pathlib import Path

_CODE = """
import sys
import mecatui.widgets.transcript, mecatui.widgets.prompt, mecatui.widgets.slash_menu
import mecatui.widgets.status_line, mecatui.widgets.header
print(*sorted({name.partition(".")[0] for name in sys.modules} | {n for n in sys.modules if n.startswith("rich.")}))
"""


def test_importing_the_widgets_loads_no_markdown_and_no_client() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CODE], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    loaded = set(done.stdout.split())
    heavy = {"markdown_it", "pygments", "wcwidth", "pydantic", "httpx", "client", "rich.markdown", "rich.syntax"}
    assert not loaded & heavy
