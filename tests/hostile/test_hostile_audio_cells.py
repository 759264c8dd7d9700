"""Cells and files of a data set that would end a run: numbers for bytes, files of the system, files without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _audio_makers import make
from _children import in_child

from dsb2_tasks.audio import AudioError
from dsb2_tasks.sources._rows import raw_audio


@pytest.mark.parametrize("value", [10**12, -1, True, "text", [1, 2, 300], {"a": 1}, 1.5], ids=repr)
def test_bytes_that_are_none(value: Any) -> None:
    told, _, grown = in_child(lambda: raw_audio({"bytes": value, "path": "x.wav"}, "Org/Set row 0"))
    assert isinstance(told, AudioError) and grown < 16 << 20
    assert told.reason == f"Org/Set row 0: the cell's bytes are of type {type(value).__name__}"


def test_a_file_of_hundreds_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse.wav").open("wb") as file:
        file.truncate(300 << 30)
    told, seconds, grown = in_child(lambda: raw_audio("sparse.wav", "Org/Set row 0", (tmp_path,)))
    assert isinstance(told, AudioError) and "'sparse.wav' has 322122547200 bytes, more than" in told.reason
    assert seconds < 1 and grown < 16 << 20


@pytest.mark.parametrize("target", ["/proc/self/environ", "/proc/kmsg", "/proc/self/maps", "/dev/zero"])
def test_links_to_files_of_the_system_give_nothing(target: str, tmp_path: Path) -> None:
    if not Path(target).exists():
        pytest.skip(f"no {target} here")
    (tmp_path / "clip.wav").symlink_to(target)
    told, _, grown = in_child(lambda: raw_audio("clip.wav", "Org/Set row 0", (tmp_path,)), seconds=5)
    assert isinstance(told, AudioError) or not told.data
    assert grown < 16 << 20


def test_what_is_a_clip_is_read(tmp_path: Path) -> None:
    (tmp_path / "clip.wav").write_bytes(make("wav"))
    (tmp_path / "link.wav").symlink_to("clip.wav")
    for name in ("clip.wav", "link.wav"):
        assert raw_audio(name, "Org/Set row 0", (tmp_path,)).data == make("wav")
    assert raw_audio({"bytes": make("wav"), "path": None}, "x").data == make("wav")
