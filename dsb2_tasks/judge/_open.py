"""A judge by its name."""

from __future__ import annotations

from pathlib import Path

from dsb2_tasks.endpoint import Endpoint, EndpointError
from dsb2_tasks.judge._clients import Client, EndpointClient, HarnessClient
from dsb2_tasks.judge._judge import Judge, Prices
from dsb2_tasks.judge._types import JudgeError

OPENAI_URL = "https://api.openai.com/v1"


def open_judge(
    name: str,
    *,
    store: str | Path,
    contract: str = "default",
    concurrency: int | None = None,
    key_env: str = "OPENAI_API_KEY",
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    prices: Prices | None = None,
    retry_unusable: bool = False,
) -> Judge:
    """Opens a judge; nobody is asked and nothing is loaded yet.

    Args:
        name: ``openai:MODEL`` or ``openai:MODEL@http://host/v1`` for a server with OpenAI's API; ``lm-eval:BACKEND:ARGS`` for a
            text backend of lm-eval with its ``--model_args``.
        store: Folder for the replies of all judges.
        contract: ``default`` or ``authors``.
        concurrency: Requests to a server at a time, 8 by default.
        key_env: Environment variable with the server's key.
        requests_per_minute: Limit for a server.
        tokens_per_minute: Limit for a server.
        prices: Prices of tokens.
        retry_unusable: Whether to ask again where the stored reply is no verdict.

    Raises:
        JudgeError: The name or the contract is wrong.
    """
    scheme, _, rest = name.partition(":")
    limits = {"concurrency": concurrency, "requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
    given = {key: value for key, value in limits.items() if value is not None}
    client: Client
    if scheme == "openai" and rest:
        model, url = _model_and_url(rest)
        try:
            client = EndpointClient(Endpoint(url, model, key_env=key_env, **given))  # type: ignore[arg-type]
        except (EndpointError, ValueError) as error:
            raise JudgeError(f"judge {model!r}: {error}") from error
    elif scheme == "lm-eval" and rest:
        if given:
            raise JudgeError(f"{', '.join(given)}: for servers only; an lm-eval backend takes such settings in its arguments")
        backend, _, args = rest.partition(":")
        client = HarnessClient(backend, args)
    else:
        raise JudgeError(
            f"judge {name!r}: write openai:MODEL, openai:MODEL@http://host/v1, or lm-eval:BACKEND:ARGS as in "
            f"lm-eval:hf:pretrained=NAME"
        )
    return Judge(client, store, contract, prices=prices, retry_unusable=retry_unusable)


def _model_and_url(text: str) -> tuple[str, str]:
    """``MODEL@URL`` in two; a model's name may hold @ itself."""
    for scheme in ("@http://", "@https://"):
        if scheme in text:
            model, _, rest = text.partition(scheme)
            return model, f"{scheme[1:]}{rest}"
    return text, OPENAI_URL
