from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest
from _requests import Shelf, request, tone

from dsb2_tasks.models.hf_audio import HFAudio


class Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
def test_hours_rate_and_time_left_on_a_terminal_only(
    load: Callable[..., HFAudio], shelf: Shelf, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    lm = load(batch_size=1)
    requests = [request("What is said?", shelf.put(tone(200 + 90 * i, 18)), max_gen_toks=1) for i in range(2)]
    requests.append(request("What is said?", shelf.put(b"broken")))
    screen = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    for name in ("COLUMNS", "LINES"):  # tqdm cuts the line at the end of a terminal
        monkeypatch.setenv(name, "200")
    lm.generate_until(requests)
    shown = screen.getvalue()
    if terminal:
        assert "3/3" in shown and "0.01 h of audio" in shown and "h an hour" in shown and "hf-audio" in shown
    else:
        assert shown == ""


def test_a_quiet_run_stays_quiet(load: Callable[..., HFAudio], shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = load()
    screen = Screen(True)
    monkeypatch.setattr(sys, "stderr", screen)
    lm.generate_until([request("What is said?", shelf.put(tone(300, 1)))], disable_tqdm=True)
    assert screen.getvalue() == ""
