"""Processors of models that also see: loaded without their image and video parts, which need libraries that no clip does."""

from __future__ import annotations

from typing import Any, ClassVar

from dsb2_tasks.models.adapters.generic import Adapter


class AudioOnly(Adapter):
    """A family whose processor would load image and video parts (Pillow, torchvision, timm) that an audio task never uses.

    Attributes:
        processor_class: Name of the family's processor class of transformers.
    """

    processor_class: ClassVar[str]

    @classmethod
    def load_processor(cls, source: str, **common: Any) -> Any:
        """The family's processor with tokenizer, feature extractor and chat template alone."""
        import transformers

        kind = getattr(transformers, cls.processor_class)

        class Processor(kind):  # type: ignore[misc,valid-type]
            def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
                return None if argument is None else super().check_argument_for_proper_class(argument_name, argument)

        loaders: dict[str, Any] = {
            "tokenizer": transformers.AutoTokenizer,
            "feature_extractor": transformers.AutoFeatureExtractor,
            "audio_processor": transformers.AutoFeatureExtractor,
        }
        parts = [loaders[name].from_pretrained(source, **common) if name in loaders else None for name in kind.get_attributes()]
        settings, _ = kind.get_processor_dict(source, **common)
        Processor.__name__ = kind.__name__
        return Processor.from_args_and_dict(parts, settings)
