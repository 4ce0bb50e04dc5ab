"""Where a server is and what may be sent there, checked before anything is sent."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

from client.errors import AddressRefused, cleaned


@dataclass(frozen=True, slots=True)
class Address:
    """A place to connect to."""

    url: str
    """Base URL of the requests; a stand-in host over a UNIX socket."""
    socket: str = ""
    """Path of the UNIX socket; empty over TCP."""
    encrypted: bool = False
    local: bool = False
    """What is sent cannot leave this machine."""

    def __str__(self) -> str:
        return f"unix:{self.socket}" if self.socket else self.url


def parse_address(text: str) -> Address:
    """Read `http://host:port`, `https://host[:port]` or `unix:/path`.

    Raises:
        AddressRefused: it has none of the three forms.
    """
    if not text.isprintable():
        raise _malformed(text)
    if text.startswith("unix:"):
        return _unix(text)
    if " " in text:
        raise _malformed(text)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _malformed(text) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or _has_extras(parts):
        raise _malformed(text)
    url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    return Address(url=url, encrypted=parts.scheme == "https", local=_is_loopback(parts.hostname))


def check_token(token: str) -> str:
    """The token as a header value.

    Raises:
        AddressRefused: it is empty or holds what a header cannot.
    """
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise AddressRefused("the token must be printable ASCII without blanks; check the file it comes from")
    return token


def check_plaintext(address: Address, *, allowed: bool) -> None:
    """Refuse to send prompts and tokens in clear text to another machine unless that was asked for.

    Raises:
        AddressRefused: it would.
    """
    if not (address.encrypted or address.local or allowed):
        raise AddressRefused(
            f"{cleaned(address.url)} would carry the token and the conversation unencrypted; "
            "use https://, or a tunnel to a loopback address"
        )


def path_of(template: str, session_id: str, *, name: str = "") -> str:
    """A path of the contract filled in. Whatever a parameter holds, it stays one segment.

    Raises:
        ValueError: a parameter is empty, which would name another route.
    """
    return template.format(session_id=_segment(session_id), **({"name": _segment(name)} if name else {}))


def _segment(value: str) -> str:
    if not value:
        raise ValueError("a path parameter must not be empty")
    quoted = quote(value, safe="", errors="replace")
    return quoted.replace(".", "%2E") if quoted in {".", ".."} else quoted


def _unix(text: str) -> Address:
    path = text.removeprefix("unix:")
    path = path.removeprefix("//") if path.startswith("///") else path
    if not path.startswith("/") or path.startswith("//"):
        raise _malformed(text)
    return Address(url="http://localhost", socket=path, local=True)


def _has_extras(parts: SplitResult) -> bool:
    return bool(parts.query or parts.fragment or "@" in parts.netloc)


def _is_loopback(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _malformed(text: str) -> AddressRefused:
    shown = "" if "@" in text else f" {cleaned(text)!r}"
    return AddressRefused(f"the address{shown} is not http://host:port, https://host or unix:/path")
