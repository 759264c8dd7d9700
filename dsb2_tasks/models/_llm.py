"""Any text model of lm-eval as the language model of a cascade: found by name, given its arguments, asked in chunks."""

from __future__ import annotations

import difflib
import inspect
import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsb2_tasks.models._args import ModelArgError
from dsb2_tasks.models._base import AudioLM
from dsb2_tasks.models._cascade_demo import LLM, demo_folder
from dsb2_tasks.models._cascade_prompt import without_chat_template
from dsb2_tasks.models._fingerprint import fingerprint
from dsb2_tasks.models._generation import Generation
from dsb2_tasks.models._load import ModelUnavailable
from dsb2_tasks.models._pipeline import ModelStopped
from dsb2_tasks.models._tally import Failure

if TYPE_CHECKING:
    from lm_eval.api.model import LM

log = logging.getLogger(__name__)

#: Prompts that the model is given at a time: a killed run loses no more answers than these.
_CHUNK = 64
#: So many prompts in a row that the model fails on end the run.
_GONE = 5
#: Arguments that no answer hangs on, or that are secret.
_NOT_IDENTITY = (
    *("device", "batch_size", "max_batch_size", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("parallelize", "max_memory_per_gpu", "max_cpu_memory", "offload_folder", "gpu_memory_utilization", "auth_token", "header"),
    *("api_key", "token"),
)
#: Arguments that may name a folder with weights or words.
_FOLDERS = ("pretrained", "model", "tokenizer", "peft", "delta", "lora_local_path")


class TextModel:
    """A text model of lm-eval.

    Attributes:
        identity: Everything about it that its answers hang on, as far as it can be known; JSON-able.
        form: How it is asked: ``messages`` (a server applies the template), ``chat template`` (its own) or ``plain text``.
    """

    def __init__(
        self, name: str, llm_args: object, beside: Mapping[str, Any], host: Mapping[str, Any], others: Collection[str] = ()
    ) -> None:
        """Loads the model.

        Args:
            name: As in ``--model``, or ``demo``.
            llm_args: Arguments for its constructor, see :func:`read_llm_args`.
            beside: The same, given beside ``llm=``: only those that the constructor names.
            host: ``device``, ``batch_size`` and ``max_batch_size``, where the arguments name none.
            others: Names that one of ``beside`` may have been meant for.

        Raises:
            ModelArgError: The name is none of lm-eval's text models, or an argument cannot be right.
            ModelUnavailable: It cannot be loaded.
            DemoUnavailable: ``demo`` is asked for and its package is absent or not the one that was pinned.
        """
        kind = _find("hf" if name == "demo" else name)
        arguments = _arguments(name, kind, read_llm_args(llm_args), beside, others)
        if name == "demo":
            arguments = {**_demo(arguments), **arguments}
        try:
            self._lm: LM = kind.create_from_arg_obj({**_fitting(kind, host), **arguments})
            self.form = self._find_form()
            self._try()
        except Exception as error:  # every backend raises its own: weights, packages, servers, keys, memory
            log.debug("llm=%r", name, exc_info=True)
            shown = ", ".join(f"{key}={value}" for key, value in arguments.items() if key not in _NOT_IDENTITY)
            raise ModelUnavailable(f"llm={name!r} ({shown or 'no arguments'}) cannot be loaded: {_reason(error)}") from None
        self.identity = {
            "backend": name,
            **_origins(arguments, self._lm),
            "form": self.form,
            "lm_eval": version("lm_eval"),
            **_engine(self._lm),
        }

    def _try(self) -> None:
        """Finds now what would end the run when the recogniser is through with all clips."""
        from lm_eval.models.api_models import TemplateAPI

        self.too_long(self.render([("user", "?")]), Generation(1))
        if isinstance(self._lm, TemplateAPI):
            if not self._lm.base_url:
                raise ValueError(
                    "base_url= is missing: the address of the server, such as http://localhost:8000/v1/chat/completions"
                )
            _ = self._lm.header  # raises where no key is set

    def _find_form(self) -> str:
        from lm_eval.models.api_models import TemplateAPI

        # Servers of chat completions take messages only; lm-eval tells them from others by nothing but their class.
        if isinstance(self._lm, TemplateAPI) and any("Chat" in base.__name__ for base in type(self._lm).__mro__):
            return "messages"
        if self._lm.chat_template(True) and isinstance(self._lm.apply_chat_template([{"role": "user", "content": "?"}]), str):
            return "chat template"
        return "plain text"

    def render(self, turns: Sequence[tuple[str, str]], reply_begun: bool = False) -> Any:
        """Turns in the form in which the model is asked: a text, or lm-eval's mark for messages.

        Args:
            turns: Role and text of each.
            reply_begun: Whether the last turn is the beginning of the answer.
        """
        if self.form == "plain text":
            return without_chat_template(turns, reply_begun)
        messages = [{"role": role, "content": text} for role, text in turns]
        return self._lm.apply_chat_template(messages, add_generation_prompt=not reply_begun)

    def too_long(self, prompt: Any, generation: Generation) -> bool:
        """Whether prompt and answer exceed the context, which lm-eval would cut from the left; False where nobody can tell."""
        if self.form == "messages" or getattr(self._lm, "tokenizer", None) is None:
            return False
        room = self._lm.max_length - generation.max_new_tokens  # type: ignore[attr-defined]  # what has a tokenizer has both
        return len(self._lm.tok_encode(prompt)) > room  # type: ignore[attr-defined]

    def answer(self, prompts: Sequence[tuple[Any, Generation]]) -> Iterator[list[tuple[int, str | Failure]]]:
        """Asks the model.

        A prompt that it fails on is a :class:`Failure`; if it fails on several in a row, the run ends.

        Args:
            prompts: From :meth:`render`, and how to answer.

        Yields:
            Position of the prompt and its answer, some at a time.

        Raises:
            ModelStopped: The model is gone; the message holds its reason.
        """
        failed = 0
        for first in range(0, len(prompts), _CHUNK):
            part = prompts[first : first + _CHUNK]
            texts = self._generate_or_none(part)
            if texts is not None:
                failed = 0
                yield list(enumerate(texts, first))
                continue
            for i, prompt in enumerate(part, first):
                try:
                    reply: str | Failure = self._generate([prompt])[0]
                    failed = 0
                except Exception as error:
                    failed += 1
                    reply = Failure("model_error", f"language model: {_reason(error)}")
                    if failed == _GONE:
                        raise ModelStopped(
                            f"the language model failed on {failed} prompts in a row, the last with: {_reason(error)}. What was "
                            f"answered before is stored; mend the cause and run again"
                        ) from error
                yield [(i, reply)]

    def _generate_or_none(self, prompts: Sequence[tuple[Any, Generation]]) -> list[str] | None:
        """Answers, or None if the model failed: on one prompt (refused, say) or on all; asking singly shows."""
        try:
            return self._generate(prompts)
        except Exception as error:
            log.warning("the language model failed on %d prompts, now asked one by one: %s", len(prompts), _reason(error))
        return None

    def _generate(self, prompts: Sequence[tuple[Any, Generation]]) -> list[str]:
        from lm_eval.api.instance import Instance

        requests = [
            Instance("generate_until", {}, (prompt, _settings(generation)), i, ("dsb2-cascade", i, 1))
            for i, (prompt, generation) in enumerate(prompts)
        ]
        answers = self._lm.generate_until(requests)
        wrong = [answer for answer in answers if not isinstance(answer, str)]
        if len(answers) != len(requests) or wrong:
            raise RuntimeError(f"{len(answers) - len(wrong)} texts came back for {len(requests)} prompts")
        return answers


def read_llm_args(llm_args: object) -> dict[str, Any]:
    """``llm_args=`` as a mapping.

    Args:
        llm_args: ``pretrained=X;dtype=bfloat16`` (lm-eval's own parser takes commas for itself), a JSON text, or a mapping.

    Raises:
        ModelArgError: It is none of these.
    """
    if llm_args is None:
        return {}
    if isinstance(llm_args, Mapping):
        return {str(name): value for name, value in llm_args.items()}
    from lm_eval.utils import simple_parse_args_string

    text = str(llm_args).strip()
    if text.startswith("{"):
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise ModelArgError(f"llm_args={text!r} is no JSON mapping: {error}") from None
    parts = [part.strip() for part in text.split(";") if part.strip()]
    for part in parts:
        if not part.partition("=")[1] or "," in part:
            raise ModelArgError(f"llm_args={text!r}: {part!r} is not NAME=VALUE; write llm_args=NAME=VALUE;NAME=VALUE")
    return simple_parse_args_string(",".join(parts))


def _find(name: str) -> type[LM]:
    """The class behind a name of lm-eval's registry."""
    import lm_eval.models  # noqa: F401  # fills the registry
    from lm_eval.api.registry import model_registry

    from dsb2_tasks.audio import ensure_torchaudio

    ensure_torchaudio()  # transformers' models import it, and a broken one would end the run
    known = sorted(key for key, kind in model_registry.items() if "dsb2_tasks" not in str(kind))
    if name not in model_registry:
        near = difflib.get_close_matches(name, ["demo", "none", *known], n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ModelArgError(f"llm={name!r}: {hint}Known are none, demo and lm-eval's models: {', '.join(known)}")
    try:
        kind = model_registry.get(name)
    except ImportError as error:
        raise ModelUnavailable(f"llm={name!r} cannot be loaded: {_reason(error)}") from None
    if issubclass(kind, AudioLM):
        raise ModelArgError(f"llm={name!r} listens to audio itself; a cascade takes a text model, such as hf")
    return kind


def _known(kind: type[LM]) -> tuple[tuple[str, ...], bool]:
    """Names that a constructor knows, those that it hands up included, and whether it takes any other."""
    from lm_eval.models.api_models import TemplateAPI

    names: dict[str, None] = {}
    for base in kind.__mro__:
        constructor = vars(base).get("__init__")
        if constructor is None:
            continue
        parameters = list(inspect.signature(constructor).parameters.values())[1:]
        names |= dict.fromkeys(p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            return tuple(names), False
    return tuple(names), not issubclass(kind, TemplateAPI)  # which drops what it does not know


def _arguments(
    name: str, kind: type[LM], given: Mapping[str, Any], beside: Mapping[str, Any], others: Collection[str]
) -> dict[str, Any]:
    """All arguments of the model together, checked."""
    known, open_ended = _known(kind)
    for argument in sorted(set(beside) - set(known)):
        near = difflib.get_close_matches(argument, (*others, *known), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"what else llm={name} may take goes into llm_args={argument}=..."
        raise ModelArgError(f"--model_args of dsb2-cascade: neither the cascade nor llm={name} knows {argument!r}: {hint}")
    for argument in sorted(set(given) - set(known)):
        near = difflib.get_close_matches(argument, known, n=1, cutoff=0.85 if open_ended else 0.6)
        if near or not open_ended:
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            raise ModelArgError(f"llm_args: {name!r} does not know {argument!r}: {hint}")
    for argument in sorted(set(given) & set(beside)):
        raise ModelArgError(f"{argument} is given twice: in llm_args and beside it; leave one out")
    arguments = {**beside, **given}
    try:
        json.dumps(arguments)
    except (TypeError, ValueError):
        raise ModelArgError(f"llm_args={arguments!r}: only texts, numbers, true and false, lists and mappings") from None
    return arguments


def _demo(arguments: Mapping[str, Any]) -> dict[str, Any]:
    from dsb2_tasks.models._cache import cache_folder

    for fixed in {"pretrained", "gguf_file", "tokenizer", "revision"} & set(arguments):
        raise ModelArgError(f"{fixed}={arguments[fixed]!r} does not go with llm=demo, whose weights come with a package")
    folder = demo_folder(LLM, cache_folder())
    return {"pretrained": str(folder), "gguf_file": next(iter(LLM.files)), "dtype": "float32"}


def _fitting(kind: type[LM], host: Mapping[str, Any]) -> dict[str, Any]:
    """What lm-eval itself hands to every model.

    ``batch_size=auto`` makes HFLM look for the largest batch again for every chunk, which takes longer than it saves.
    """
    given = {name: value for name, value in host.items() if value is not None}
    if any(base.__name__ == "HFLM" for base in kind.__mro__) and str(given.get("batch_size")).startswith("auto"):
        given["batch_size"] = 8
    return given


def _settings(generation: Generation) -> dict[str, Any]:
    """Generation settings by lm-eval's names; a new mapping for each request, for backends change it."""
    greedy: dict[str, Any] = {} if generation.sampling else {"temperature": 0.0}
    until = {"until": list(generation.until)} if generation.until else {}
    return {
        **until,
        "max_gen_toks": generation.max_new_tokens,
        "do_sample": generation.sampling,
        **greedy,
        **generation.options,
    }


def _origins(arguments: Mapping[str, Any], lm: LM) -> dict[str, Any]:
    """Arguments with the content of folders in place of their names, and the commit of hub weights."""
    named: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in _NOT_IDENTITY:
            continue
        folder = Path(str(value)).expanduser()
        named[name] = {"content": fingerprint(folder)} if name in _FOLDERS and folder.is_dir() else value
    file = Path(str(arguments.get("pretrained"))) / str(arguments.get("gguf_file"))
    if file.is_file():
        named["gguf_file"] = {"content": fingerprint(file)}
    commit = getattr(getattr(lm, "config", None), "_commit_hash", None)
    return {"arguments": named, **({"commit": commit} if commit else {})}


def _engine(lm: LM) -> dict[str, str]:
    """Version of the library that runs the weights, if they are run here."""
    package = type(getattr(lm, "model", None)).__module__.partition(".")[0]
    return {package: version(package)} if package in ("transformers", "vllm", "sglang") else {}


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:400]}" if text else type(error).__name__
