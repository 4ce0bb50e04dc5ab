import errno
import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.reading import Absent, Contents, Linked, Unread, read_file, unread


def test_file_that_keeps_changing_is_never_read_by_halves(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text("whole")

    def grow(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and frame.f_code.co_name == "_read_descriptor":
            with file.open("a") as opened:
                opened.write("!")
        return grow

    before = sys.gettrace()
    sys.settrace(grow)
    try:
        reading = read_file(str(file), None)
    finally:
        sys.settrace(before)
    assert isinstance(reading, Unread)
    assert reading.code is SkipCode.CHANGED_WHILE_READ


def test_file_that_is_replaced_again_and_again_is_read_whole(tmp_path: Path) -> None:
    file, draft = tmp_path / "SKILL.md", tmp_path / "draft"
    versions = [b"a" * 200_000, b"b" * 300_000]
    file.write_bytes(versions[0])
    done = threading.Event()

    def replace() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            draft.write_bytes(versions[turn % 2])
            draft.replace(file)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        readings = [read_file(str(file), None) for _ in range(100)]
    finally:
        done.set()
        writer.join()
    whole = [reading.data in versions for reading in readings if isinstance(reading, Contents)]
    assert all(whole)
    assert whole


def test_absent_file_and_link_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    assert read_file(str(tmp_path / "gone"), None) == Absent()
    assert read_file(str(tmp_path / "link"), None) == Linked()
    assert isinstance(read_file(str(tmp_path / ("x" * 300)), None), Unread)


@pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EMFILE, errno.ENOMEM])
def test_error_of_the_device_or_the_process_is_no_skip(code: int) -> None:
    with pytest.raises(OSError, match=os.strerror(code)):
        unread(OSError(code, os.strerror(code)))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails to be read")
def test_error_while_reading_is_raised() -> None:
    with pytest.raises(OSError, match="Input/output error"):
        read_file("/proc/self/mem", None)
