"""An adapter for Qwen2-Audio without its chat template: the clips, then the plain text, as its base model was trained."""

import numpy as np

from dsb2_tasks.models.adapters import Adapter

CLIP = "<|audio_bos|><|AUDIO|><|audio_eos|>"


class MyAdapter(Adapter):
    name = "qwen2-audio-base"  # goes into the results
    version = 1  # raise it whenever the same request gives another prompt
    chat_template = CLIP + "{text}"  # goes into the results, too

    def messages(self, chat, clips, position):
        """What one request is to the model; `inputs` gets a list of these. No more than this method is asked of it."""
        text = "\n".join(text for _, text in chat.turns)
        places = CLIP * len(clips)
        return [{"prompt": places + text if position == "before" else text + places, "clips": clips}]

    def inputs(self, conversations, *, reply_begun=False):
        """Model inputs of a batch. Padding goes to the left, so that all answers begin at the same place."""
        requests = [request for (request,) in conversations]
        return self.processor(
            text=[request["prompt"] for request in requests],
            audio=[np.asarray(clip) for request in requests for clip in request["clips"]] or None,
            sampling_rate=self.rate,
            return_tensors="pt",
            text_kwargs={"padding": True, "padding_side": "left"},
        )
