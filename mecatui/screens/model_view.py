"""The page of what the model is told: digests, tools, and the requests that were sent."""

from mecatui.control import ModelPage, RequestLine
from mecatui.plain_text import one_line, printable
from mecatui.screens.page import Item, PageScreen
from mecatui.widgets.lines import Kind, Line

_DIGEST = 12
_DESCRIPTION_CAP = 4000


def model_view_page(page: ModelPage) -> PageScreen:
    """All that is known of what the model was sent."""
    items = [
        Item(Line("What the model is told", "heading")),
        _fact("tools digest", page.tools_sha256 or "not sent yet"),
        _fact("tools bytes", f"{page.tools_bytes:,}"),
        _fact("system digest", page.system_sha256 or "not sent yet"),
        Item(Line("")),
        Item(Line(f"Tools ({len(page.tools)})", "heading")),
    ]
    for place, tool in enumerate(page.tools):
        line = Line(f"  {tool.name}  {one_line(tool.description)}", key=f"tool {place}")
        items.append(Item(line, f"{tool.name}\n{printable(tool.description)[:_DESCRIPTION_CAP]}"))
    items += [Item(Line("")), Item(Line(f"Requests ({len(page.requests)})", "heading"))]
    items += _requests(page)
    return PageScreen("Model view", items)


def _fact(name: str, value: str) -> Item:
    return Item(Line(f"  {name:<14} {value}", key=name), f"{name}\n{value}")


def _requests(page: ModelPage) -> list[Item]:
    if not page.requests:
        return [Item(Line("  none yet", "dim"))]
    items = [Item(Line("  turn  generation  tools         new     cached", "dim"))]
    for place, request in enumerate(page.requests):
        same = request.tools_sha256 == page.tools_sha256
        line = _request_text(request) + ("" if same else "  differs")
        kind: Kind = "plain" if same else "warning"
        detail = (
            f"turn {request.turn}, skills generation {request.generation}\n"
            f"tools {request.tools_sha256}{'' if same else ': not the digest above'}"
        )
        items.append(Item(Line(line, kind, key=f"request {place}"), detail))
    return items


def _request_text(request: RequestLine) -> str:
    total = request.input_tokens + request.cache_read_tokens
    share = f" {request.cache_read_tokens * 100 // total}%" if total else ""
    return (
        f"  {request.turn:>4}  {request.generation:>10}  {request.tools_sha256[:_DIGEST]:<12}"
        f"  {request.input_tokens:>6}  {request.cache_read_tokens:>7}{share}"
    )
