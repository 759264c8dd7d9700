"""Generation settings of a task (lm-eval's ``generation_kwargs``) as a model is to follow them."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsb2_tasks.models._args import SettingError

#: What lm-eval gives a task that names no cap.
DEFAULT_CAP = 256

_CAP_NAMES = ("max_gen_toks", "max_new_tokens", "max_tokens")
_OWN = (*_CAP_NAMES, "until", "do_sample", "temperature")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_WHOLE = ("a whole number of at least 0", lambda value: type(value) is int and value >= 0)
_SHARE = ("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
#: Handed on to ``generate`` as they are: what is a value, in words and as a test.
_OPTIONS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "early_stopping": ("true, false or never", lambda value: isinstance(value, bool) or value == "never"),
    "length_penalty": ("a number", _is_number),
    "min_new_tokens": _WHOLE,
    "min_p": _SHARE,
    "no_repeat_ngram_size": _WHOLE,
    "num_beams": ("a whole number of at least 1", lambda value: type(value) is int and value >= 1),
    "repetition_penalty": ("a number above 0", lambda value: _is_number(value) and value > 0),
    "top_k": _WHOLE,
    "top_p": _SHARE,
    "typical_p": _SHARE,
}


@dataclass(frozen=True)
class Generation:
    """How one answer is to be generated.

    Attributes:
        max_new_tokens: Token cap.
        until: Strings that end an answer; they are not part of it.
        sampling: Whether the answer is drawn; else it is the greedy (or beam search) one, always the same.
        options: Further settings by the names of transformers' ``GenerationConfig``.
    """

    max_new_tokens: int
    until: tuple[str, ...] = ()
    sampling: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """All of it as JSON-able mapping, for the response key."""
        return {
            "max_new_tokens": self.max_new_tokens,
            "until": list(self.until),
            "sampling": self.sampling,
            "options": dict(self.options),
        }

    @property
    def group(self) -> str:
        """Equal for requests that may share a batch."""
        return json.dumps(self.settings, sort_keys=True)


def read_generation(kwargs: Mapping[str, Any], cap: int | None = None) -> Generation:
    """Reads generation settings; the mapping is left as it is.

    Args:
        kwargs: Settings of the task, after ``--gen_kwargs``.
        cap: Token cap that overrides the task's.

    Raises:
        SettingError: A name is unknown, a value is none that it takes, or two settings contradict each other; the message
            says what to type.
    """
    for name in kwargs:
        if name not in _OWN and name not in _OPTIONS:
            near = difflib.get_close_matches(name, (*_OWN, *_OPTIONS), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted((*_OWN, *_OPTIONS)))}"
            raise SettingError(f"generation setting {name!r} is not known here; {hint}")
    options = {name: kwargs[name] for name in _OPTIONS if kwargs.get(name) is not None}
    for name, value in options.items():
        needed, fits = _OPTIONS[name]
        if not fits(value):
            raise SettingError(f"generation setting {name}={value!r}: {needed} is needed")
    sampling = _sampling(kwargs.get("do_sample"), kwargs.get("temperature"))
    if sampling and kwargs.get("temperature") is not None:
        options["temperature"] = float(kwargs["temperature"])
    return Generation(
        max_new_tokens=cap if cap is not None else _cap(kwargs),
        until=_until(kwargs.get("until")),
        sampling=sampling,
        options=options,
    )


def cut(text: str, until: Sequence[str]) -> str:
    """The text before the first of the stop strings."""
    ends = [text.find(stop) for stop in until]
    return text[: min((end for end in ends if end >= 0), default=len(text))]


def _sampling(do_sample: Any, temperature: Any) -> bool:
    if do_sample is not None and not isinstance(do_sample, bool):
        raise SettingError(f"generation setting do_sample={do_sample!r}: true or false is needed")
    if temperature is not None and not (_is_number(temperature) and temperature >= 0):
        raise SettingError(f"generation setting temperature={temperature!r}: a number of at least 0 is needed")
    warm = temperature is not None and temperature > 0
    if do_sample is None:
        return warm
    # A task says greedy twice (do_sample: false, temperature: 0.0); --gen_kwargs with one of them leaves the other standing.
    if do_sample and temperature == 0:
        raise SettingError(
            "generation settings do_sample=true and temperature=0 contradict each other; add temperature=<above 0>"
        )
    if not do_sample and warm:
        raise SettingError(f"generation settings do_sample=false and temperature={temperature} contradict; add do_sample=true")
    return do_sample


def _cap(kwargs: Mapping[str, Any]) -> int:
    caps = {name: kwargs[name] for name in _CAP_NAMES if kwargs.get(name) is not None}
    if len(set(caps.values())) > 1:
        raise SettingError(f"generation settings name more than one token cap: {caps}; leave one")
    for name, value in caps.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise SettingError(f"generation setting {name}={value!r}: a whole number of at least 1 is needed")
        return value
    return DEFAULT_CAP


def _until(until: Any) -> tuple[str, ...]:
    stops = [until] if isinstance(until, str) else [] if until is None else until
    if not isinstance(stops, (list, tuple)) or not all(isinstance(stop, str) for stop in stops):
        raise SettingError(f"generation setting until={until!r}: a text or a list of texts is needed")
    return tuple(stop for stop in stops if stop)
