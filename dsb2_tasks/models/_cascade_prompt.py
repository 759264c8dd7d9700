"""What the language model of a cascade reads in place of audio."""

from __future__ import annotations

from collections.abc import Sequence

#: The template as it stands in results and response keys.  ``version`` goes up with every change of a word.
TEMPLATE: dict[str, str | int] = {
    "version": 1,
    "prompt": (
        "You are given what a speech recogniser wrote down in place of the audio that the instruction speaks of.\n"
        "\n"
        "{transcripts}\n"
        "\n"
        "Instruction: {instruction}\n"
        "\n"
        "Give the answer only. Where the transcript does not tell, give the most likely answer."
    ),
    "one_clip": "Transcript: {text}",
    "several_clips": "Transcript of audio {number}: {text}",
    "no_speech": "(no speech was recognised)",
    "no_chat_template": "{prompt}\n\nAnswer:",
}


def make_prompt(instruction: str, transcripts: Sequence[str]) -> str:
    """The text of the user's turn.

    Args:
        instruction: The task's instruction.
        transcripts: What the recogniser wrote, in clip order; without any, the instruction is the whole text.
    """
    if not transcripts:
        return instruction
    form = str(TEMPLATE["one_clip" if len(transcripts) == 1 else "several_clips"])
    lines = [
        # A transcript is one line, so that none can pass for the instruction below it.
        form.format(number=number, text=" ".join(transcript.split()) or TEMPLATE["no_speech"])
        for number, transcript in enumerate(transcripts, 1)
    ]
    return str(TEMPLATE["prompt"]).format(transcripts="\n".join(lines), instruction=instruction)


def without_chat_template(turns: Sequence[tuple[str, str]], reply_begun: bool) -> str:
    """Turns as plain text, for a language model that has no chat template.

    Args:
        turns: Role and text of each.
        reply_begun: Whether the last turn is the beginning of the answer.
    """
    texts = [text for _, text in turns]
    prompt, begun = ("\n\n".join(texts[:-1]), " " + texts[-1]) if reply_begun else ("\n\n".join(texts), "")
    return str(TEMPLATE["no_chat_template"]).format(prompt=prompt) + begun
