"""Flags become a backend and an app: the composition root."""

import argparse
import gc
import importlib
import sys
from typing import Protocol

from mecatui.backend import EmbeddedBackend, RemoteBackend
from mecatui.embedded import ServerFlags, run_server_command


class UsageProblem(Exception):
    """A flag that cannot be followed; the text says which and why."""


class _App(Protocol):
    def run(self) -> str | None: ...


def launch(flags: argparse.Namespace) -> int:
    """Do what the flags say and give the exit status.

    Raises:
        UsageProblem: a flag cannot be followed.
    """
    match flags.command:
        case "trust":
            return run_server_command(["trust", str(flags.path)])
        case "connect":
            return _show(RemoteBackend(_address(flags.address), flags.model), flags.theme)
        case _:
            return _show(EmbeddedBackend(_server_flags(flags)), flags.theme)


def _show(backend: EmbeddedBackend | RemoteBackend, theme: str) -> int:
    """Show the app until it is left. The embedded server is already starting while Textual is loaded."""
    # Nothing that is loaded for the first frame becomes garbage; the app collects again after it.
    gc.disable()
    try:
        module = importlib.import_module("mecatui.app")
        try:
            app: _App = module.MecatuiApp(backend, theme=theme)
        except module.UnknownTheme as unknown:
            raise UsageProblem(f"--theme: {unknown}") from unknown
        session_id = app.run()
    finally:
        gc.enable()
        backend.close()
    if session_id:
        sys.stderr.write(f"session {session_id}\n")
    return 0


def _address(text: str) -> str:
    if not text.startswith(("http://", "https://", "unix:")):
        raise UsageProblem(f"connect {text}: an address is http://host:port, https://host or unix:/path")
    return text


def _server_flags(flags: argparse.Namespace) -> ServerFlags:
    folders = [("--workspace", flags.workspace), *(("--skills-dir", folder) for folder in flags.skills_dir)]
    if not flags.workspace.is_dir():
        raise UsageProblem(f"--workspace {flags.workspace}: there is no such folder")
    extra = [part for name, folder in folders[1:] for part in (name, str(folder.absolute()))]
    extra += ["--no-conventional-skills"] if flags.no_conventional_skills else []
    extra += ["--trust-project"] if flags.trust_project else []
    extra += ["--model", flags.model] if flags.model else []
    extra += ["--base-url", flags.base_url] if flags.base_url else []
    for name, file in (("--mock-script", flags.mock_script), ("--mock-record", flags.mock_record)):
        extra += [name, str(file.absolute())] if file else []
    return ServerFlags(flags.workspace.absolute(), tuple(extra))
