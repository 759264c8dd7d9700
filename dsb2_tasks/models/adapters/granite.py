"""Granite Speech: the chat template takes text only, and the place of a clip is a token in that text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models._peft import has_peft
from dsb2_tasks.models.adapters.generic import Adapter, Position, Samples, UnknownFamily, last_user


class GraniteSpeech(Adapter):
    """Renders the template first, then hands text and clips to the processor.

    Its encoder has no mask, so the silence that fills up a shorter clip would be heard.
    """

    name = "granite-speech"
    alone = True

    def messages(self, chat: Chat, clips: Sequence[Samples], position: Position) -> list[dict[str, Any]]:
        """Turns whose contents are strings; the last user turn keeps its clips under a key that no template reads."""
        last = last_user(chat)
        messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in chat.turns]
        places = self.processor.audio_token * len(clips)
        text = messages[last]["content"]
        messages[last] |= {"content": places + text if position == "before" else text + places, "clips": list(clips)}
        return messages

    def inputs(self, conversations: Sequence[list[dict[str, Any]]], *, reply_begun: bool = False) -> Any:
        """As the generic adapter."""
        import torch

        texts = self.tokenizer.apply_chat_template(
            list(conversations),
            chat_template=self.chat_template,
            add_generation_prompt=not reply_begun,
            continue_final_message=reply_begun,
            tokenize=False,
        )
        clips = [torch.from_numpy(clip) for messages in conversations for turn in messages for clip in turn.get("clips", ())]
        return self.processor(
            text=texts, audio=clips or None, return_tensors="pt", text_kwargs={"padding": True, "padding_side": "left"}
        )

    def ready(self, model: Any, source: str, **common: Any) -> None:
        """Refuses a model whose LoRA weights for speech could not be loaded, or will not be used.

        Raises:
            UnknownFamily: peft is not installed.
            ValueError: peft is older than transformers asks for.
        """
        if getattr(model.config, "has_lora_adapter", False) and not has_peft(model):
            raise UnknownFamily("its LoRA weights for speech were not loaded; run: pip install peft")
        if model._hf_peft_config_loaded:
            model.enable_adapters()  # the model does so itself at every request: what is wrong shows here, before the run
