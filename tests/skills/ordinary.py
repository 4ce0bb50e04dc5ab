"""Runs a function as a user whom permissions bind: root reads everything."""

import os
import pwd
from collections.abc import Callable

import pytest


def as_ordinary_user(function: Callable[[], str]) -> str:
    """What `function` gives when an ordinary user calls it; forks and drops to `nobody` where root runs the suite."""
    if os.geteuid() != 0:
        return function()
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        pytest.skip("there is no user `nobody` to drop to")
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(function, nobody, write_end)
    os.close(write_end)
    with open(read_end, encoding="utf-8") as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, text
    return text


def _answer(function: Callable[[], str], nobody: pwd.struct_passwd, write_end: int) -> None:
    """In the child: drop, call, answer and leave without any of pytest's ends."""
    status = 1
    try:
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        answer = function()
        status = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent shows it
        answer = repr(error)
    os.write(write_end, answer.encode())
    os._exit(status)
