"""Model arguments: what a user may have mistyped is named, never ignored."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

_SECRET = {"key", "apikey", "token", "secret", "password", "signature", "sig"}


class SettingError(ValueError):
    """A run asks of a model what it cannot do; the message names option, value and fix."""


class ModelArgError(SettingError):
    """A model argument is unknown or has a wrong value; the message names argument, value and fix."""


def check_args(given: Iterable[str], known: Iterable[str], model: str) -> None:
    """Refuses unknown model arguments.

    Args:
        given: Names of arguments as typed.
        known: Names that the model takes.
        model: Name of the model, for the message.

    Raises:
        ModelArgError: Some are unknown; each is named with the nearest known one, or with all.
    """
    known = sorted(known)
    faults = []
    for name in sorted(set(given) - set(known)):
        near = difflib.get_close_matches(name, known, n=1)
        faults.append(f"{name!r}: did you mean {near[0]!r}?" if near else f"{name!r}: known are {', '.join(known)}")
    if faults:
        raise ModelArgError(f"--model_args of {model}: unknown {'; '.join(faults)}")


def read_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """An argument that is one of a few words.

    Raises:
        ModelArgError: It is none of them.
    """
    choices = list(choices)
    if value not in choices:
        near = difflib.get_close_matches(str(value), choices, n=1)
        raise ModelArgError(f"{name}={value!r}: " + (f"did you mean {near[0]!r}?" if near else f"known are {', '.join(choices)}"))
    return str(value)


def read_flag(name: str, value: object) -> bool:
    """An argument that is true or false.

    Raises:
        ModelArgError: It is neither.
    """
    if not isinstance(value, bool):
        raise ModelArgError(f"{name}={value!r}: true or false is needed")
    return value


def read_count(name: str, value: object) -> int:
    """An argument that is a whole number of at least 1.

    Raises:
        ModelArgError: It is none.
    """
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if number < 1 or isinstance(value, bool):
        raise ModelArgError(f"{name}={value!r}: a whole number of at least 1 is needed")
    return number


def read_batch_size(value: object, default: int) -> int:
    """lm-eval's ``batch_size``: a number, a number as text, or ``auto`` / ``auto:N``, which means ``default``.

    Raises:
        ModelArgError: It is none of these.
    """
    if value is None or str(value).partition(":")[0] == "auto":
        return default
    return read_count("batch_size", value)


def read_seconds(name: str, value: object, least: float = 0.0) -> float | None:
    """A length of time above 0, or None where none is set.

    Raises:
        ModelArgError: It is no number, not above 0, or below ``least``.
    """
    if value is None:
        return None
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ModelArgError(f"{name}={value!r}: a number of seconds above 0 is needed")
    if seconds < least:
        raise ModelArgError(f"{name}={value!r}: at least {least} s are needed")
    return seconds


def refuse_secrets(name: str, url: str, key_env: str) -> None:
    """Refuses an address with a password or key in it: lm-eval writes model arguments into the results.

    Args:
        name: Argument that holds the address.
        url: The address; one that is none is for others to refuse.
        key_env: Argument that names the environment variable for a key.

    Raises:
        ModelArgError: There is one; the message does not show it.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    words = [re.split(r"[^a-z]+", field.lower()) for field, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if "@" in parts.netloc or any(_SECRET & set(field) for field in words):
        raise ModelArgError(
            f"{name} names a user, password or key, which lm-eval would write into the results; put a key into the environment "
            f"variable that {key_env} names"
        )
