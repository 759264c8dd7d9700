"""Answer text -> value, or the reason why there is none.

Every reader is total (any text gives a result, none raises), deterministic, never random, blind to the right answer, and
linear in the length of the text (of the longest, some 100,000 tokens and more, lists and choices are read in part).
Thinking blocks and special tokens are removed first.  Each returns a value, None where the
answer cannot be used, and a short status::

    >>> choose_option("The answer is happy, not sad.", ["happy", "sad"])
    ('happy', 'mention')
    >>> extract_number("about seven and a half", lo=0, hi=5)
    (None, 'out_of_range')
"""

from dsb2_tasks.parse._choice import choose_labels, choose_option, match_option
from dsb2_tasks.parse._clean import clean
from dsb2_tasks.parse._cues import after_cue
from dsb2_tasks.parse._music import parse_beats, parse_notes, parse_pitches, read_pitch
from dsb2_tasks.parse._number import extract_number
from dsb2_tasks.parse._spans import parse_spans
from dsb2_tasks.parse._transcript import extract_text, extract_transcript
from dsb2_tasks.parse._understanding import TAGS, Tagged, parse_entities, parse_slots, parse_tags

__all__ = [
    "TAGS",
    "Tagged",
    "after_cue",
    "choose_labels",
    "choose_option",
    "clean",
    "extract_number",
    "extract_text",
    "extract_transcript",
    "match_option",
    "parse_beats",
    "parse_entities",
    "parse_notes",
    "parse_pitches",
    "parse_slots",
    "parse_spans",
    "parse_tags",
    "read_pitch",
]
