"""A recogniser behind a server that speaks OpenAI's transcription API."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from typing import Any

from dsb2_tasks.endpoint import Endpoint, Reply
from dsb2_tasks.models._asr import RATE, Samples
from dsb2_tasks.models._tally import Failure

_KEY = "OPENAI_API_KEY"


class ApiRecognizer:
    """Sends clips as 16 bit wav files, several at a time.

    What the server does is its own affair: the same clip may give another text tomorrow.  Transcripts that are in the store stay.
    """

    languages: Collection[str] | None = None

    def __init__(self, model: str, url: str, *, key_env: str | None = None) -> None:
        """Contacts nobody yet.

        Args:
            model: Its name on the server.
            url: Base URL, such as ``http://localhost:8000/v1``.
            key_env: Environment variable that holds the key.

        Raises:
            EndpointError: ``url`` is no URL.
        """
        self._endpoint = Endpoint(url, model, key_env=key_env or _KEY)
        self.least_batch = self._endpoint.concurrency
        self.name = f"api:{model}@{self._endpoint.url}"
        self.identity: dict[str, Any] = {"engine": "api", "model": model, "url": self._endpoint.url}

    def transcribe(self, clips: Sequence[Samples], language: str | None) -> list[str | Failure]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order.

        Raises:
            EndpointError: No request can succeed, or the server is gone.
        """
        fields = {"temperature": 0, **({"language": language} if language else {})}
        texts: list[str | Failure] = [Failure("model_error", "not answered")] * len(clips)
        for i, reply in self._endpoint.transcribe((f"{i}.wav", _wav(clip), fields) for i, clip in enumerate(clips)):
            texts[i] = reply.text.strip() if isinstance(reply, Reply) else Failure("model_error", f"recogniser: {reply.reason}")
        return texts


def _wav(samples: Samples) -> bytes:
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="PCM_16")
    return file.getvalue()
