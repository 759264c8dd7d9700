"""Clips as the files that a server gets: the original where it takes that, else a wav file made of the prepared samples."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dsb2_tasks.audio import STORE, AudioPolicy, Clip, RawAudio, decode, join, prepare, read_info
from dsb2_tasks.models._control import unheard
from dsb2_tasks.models._windows import in_step, starts_of

#: Names of containers as the API has them -> format and beginning of the subtype as libsndfile names them.
CONTAINERS = {"wav": ("WAV", "PCM_"), "mp3": ("MP3", "MPEG_LAYER_III"), "flac": ("FLAC", "PCM_"), "ogg": ("OGG", "")}


@dataclass(frozen=True)
class AudioFile:
    """A file to be sent: its bytes, and its container as the API names it."""

    data: bytes
    format: str


@dataclass(frozen=True)
class Files:
    """What a server is sent about the clips of a question.

    Attributes:
        times: Files of each time it is asked: one entry, or several for long audio in chunks.
        starts: Seconds into the (first) clip at which each window begins.
        events: What befell the clips, in order; each once a clip.
    """

    times: list[list[AudioFile]]
    starts: tuple[float, ...]
    events: tuple[str, ...]


def make_files(
    audio: Sequence[Mapping[str, Any]], policy: AudioPolicy, *, originals: Collection[str], joined: bool, control: str = "real"
) -> Files:
    """Makes the files of one question.

    Args:
        audio: Handles of its clips, in order.
        policy: How clips are prepared that are not sent as they are.
        originals: Containers, of :data:`CONTAINERS`, that are sent as they are if the clip is neither too short nor too long.
        joined: Whether several clips become one, with half a second of silence between them.
        control: One of :data:`dsb2_tasks.models._control.CONTROLS`; but for ``real``, nothing is sent as it is.

    Raises:
        AudioError: A clip cannot be read, or is too long for the policy.
    """
    if control == "none":
        audio = ()
    if control != "real":
        originals = ()
    if joined and len(audio) > 1:
        return _joined([_prepared(handle, policy, control) for handle in audio], policy)
    parts: list[list[AudioFile]] = []
    starts: list[list[float]] = []
    events: list[str] = []
    for handle in audio:
        original = _original(STORE.read(handle), policy, originals) if originals else None
        if original is not None:
            parts.append([original])
            starts.append([0.0])
            continue
        clips = _prepared(handle, policy, control)
        made = [_wav(clip.samples, clip.rate) for clip in clips]
        parts.append([file for file, _ in made])
        starts.append([clip.start for clip in clips])
        # What several windows of one clip share has befallen one clip.
        events += dict.fromkeys(event for clip, (_, more) in zip(clips, made, strict=True) for event in [*clip.events, *more])
    return Files(in_step(parts), starts_of(starts), tuple(events))


def _prepared(handle: Mapping[str, Any], policy: AudioPolicy, control: str) -> list[Clip]:
    """Windows of a clip, or what is heard in their place."""
    windows = prepare(handle, policy, STORE)
    return [replace(clip, samples=unheard(clip.samples, control, f"{handle['sha256']} {k}")) for k, clip in enumerate(windows)]


def _joined(clips: Sequence[Sequence[Clip]], policy: AudioPolicy) -> Files:
    made = [_wav(join([clip.samples for clip in time], policy.rate), policy.rate) for time in in_step(clips)]
    events = [event for windows in clips for event in dict.fromkeys(e for clip in windows for e in clip.events)]
    more = dict.fromkeys(event for _, rescaled in made for event in rescaled)
    starts = starts_of([[clip.start for clip in windows] for windows in clips])
    return Files([[file] for file, _ in made], starts, (*events, "joined", *more))


def _original(raw: RawAudio, policy: AudioPolicy, originals: Collection[str]) -> AudioFile | None:
    """The file as it is, if the server takes it and the policy leaves its length alone."""
    container = _container(raw.data)
    if container not in originals:
        return None
    if not policy.min_seconds <= read_info(raw).seconds <= (policy.max_seconds or float("inf")):
        return None
    decode(raw)  # a broken file is found here, not by a server that hears half of it
    return AudioFile(raw.data, str(container))


def _container(data: bytes) -> str | None:
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            found = (file.format, file.subtype)
    except soundfile.LibsndfileError:
        return None  # prepare() knows further containers, or says what is wrong
    name = next((name for name, (form, sub) in CONTAINERS.items() if form == found[0] and found[1].startswith(sub)), None)
    # A wav file that is cut, or was streamed, states another length than it has; servers differ in what they make of that.
    return None if name == "wav" and int.from_bytes(data[4:8], "little") != len(data) - 8 else name


def _wav(samples: np.ndarray, rate: int) -> tuple[AudioFile, list[str]]:
    """16-bit wav of samples of shape (n,) or (channels, n); what goes beyond full scale is made quieter as a whole."""
    import soundfile

    peak = float(np.abs(samples).max(initial=0.0))
    if peak > 1:
        samples = samples / peak
    file = io.BytesIO()
    soundfile.write(file, samples.T, rate, format="WAV", subtype="PCM_16")
    return AudioFile(file.getvalue(), "wav"), ["rescaled"] if peak > 1 else []
