"""Slots, named entities and part-of-speech tags in an answer."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from dsb2_tasks.parse._clean import beginning
from dsb2_tasks.parse._literal import Pairs, read_groups

Typed = tuple[str, str]

_MARKED = re.compile(r"(?:^|(?<=\s))B-([\w.-]+)\s+")
_IDENTIFIER = r"[A-Za-z][\w-]{0,39}(?: [a-z][\w-]{0,39}){0,2}"
_VALUE_KEYS = ("value", "text", "phrase", "entity", "word", "name", "span", "mention")
_TYPE_KEYS = ("type", "slot", "label", "tag", "category", "entity_type", "class", "key")

#: Types of the OntoNotes scheme to the seven that SLUE-VoxPopuli scores; an empty name: not scored.
_COMBINED = {
    **dict.fromkeys(("DATE", "TIME", "WHEN"), "WHEN"),
    **dict.fromkeys(("CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT", "QUANT"), "QUANT"),
    **dict.fromkeys(("GPE", "LOC", "LOCATION", "PLACE"), "PLACE"),
    **dict.fromkeys(("FAC", "EVENT", "WORK OF ART", "PRODUCT", "LANGUAGE"), ""),
    **dict.fromkeys(("ORG", "ORGANIZATION", "ORGANISATION"), "ORG"),
    **dict.fromkeys(("PERSON", "PER"), "PERSON"),
    "NORP": "NORP",
    "LAW": "LAW",
}
_NO_ENTITIES = re.compile(r"\bno\s+(?:named\s+)?entit|\bnone\b|^\W*\[\s*\]\W*$|^\W*\{\s*\}\W*$", re.IGNORECASE)

#: Universal part-of-speech tags (universaldependencies.org) as Stanza gives them; punctuation and symbols are not spoken.
TAGS = ("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "SCONJ", "VERB")
_TAG_HALF = re.compile(r"\(\s*pos\s*\)\s*:|\s/\s", re.IGNORECASE)
_SENTENCE_MARK = re.compile(r"^\W*\(?\s*(?:transcription|transcript|sentence|text)\s*\)?\s*:\s*", re.IGNORECASE)


def parse_slots(text: str, types: Sequence[str] = (), *, casefold: bool = True) -> tuple[list[Typed] | None, str]:
    """Reads slot types with their values.

    Understood are ``type: value, type: value`` (also one a line; ``=`` for ``:``), JSON, and SUPERB's ``B-type value E-type``.
    Values may hold commas and colons: with ``types`` the text is cut only in front of these.

    Args:
        text: A label or a model's answer.
        types: Known slot types; underscores and blanks are equal, case is ignored.
        casefold: Whether types and values are casefolded.

    Returns:
        (type, value) pairs in order and ``ok``, or None and ``empty`` or ``no_slot``.
    """
    text = beginning(text).replace("*", "").replace("`", "")
    if not text:
        return None, "empty"
    names = {_slug(name): name for name in types}
    found = list(_marked_slots(text)) or list(_mapped(read_groups(text, limit=1000) if text[0] in "[{(" else []))
    found = found or list(_colon_slots(text, types)) or (list(_colon_slots(text, ())) if types else [])
    pairs = [(names.get(_slug(kind), _slug(kind)), " ".join(value.split())) for kind, value in found]
    if casefold:
        pairs = [(kind.casefold(), value.casefold()) for kind, value in pairs]
    return (pairs, "ok") if pairs else (None, "no_slot")


def _slug(name: str) -> str:
    return re.sub(r"[\s_]+", "_", name.strip().lower())


def _marked_slots(text: str) -> Iterator[Typed]:
    at = 0
    for begin in _MARKED.finditer(text):
        if begin.start() < at:
            continue
        end = text.find(f" E-{begin[1]}", begin.end() - 1)
        if end < 0:
            return
        yield begin[1], text[begin.end() : end]
        at = end


@lru_cache(maxsize=64)
def _slot_heads(types: tuple[str, ...]) -> re.Pattern[str]:
    known = (re.sub(r"[\s_]+", "[ _]", re.escape(name).replace("\\ ", " ")) for name in sorted(types, key=len, reverse=True))
    names = "|".join(known) if types else _IDENTIFIER
    before = r"(?<=[.:])\s" if types else r"(?<=\.)\s"
    head = rf"(?:^|[,;\n{{]|{before})[\s\"'>-]{{0,80}}+({names})[\"']?[ \t]*[:=](?![/\d]\S)"
    return re.compile(head, re.IGNORECASE if types else 0)


def _colon_slots(text: str, types: Sequence[str]) -> Iterator[Typed]:
    heads = list(_slot_heads(tuple(types)).finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=False):
        value = text[head.end() : following.start() if following else len(text)]
        if value := value.strip(" \t\n,;.\"'{}"):
            yield head[1], value


def _mapped(groups: Iterable[Any]) -> Iterator[Typed]:
    """(type, value) of mappings ``{type: value}``, ``{"type": ..., "value": ...}`` and lists of two, depth first."""
    stack = list(reversed(list(groups)))
    while stack:
        item = stack.pop()
        if isinstance(item, Pairs):
            known = {str(key).strip().lower(): value for key, value in item}
            kind = next((known[k] for k in _TYPE_KEYS if isinstance(known.get(k), str)), None)
            value = next((known[k] for k in _VALUE_KEYS if isinstance(known.get(k), (str, float))), None)
            if kind is not None and value is not None:
                yield kind, _plain(value)
                continue
            for key, inner in reversed(item):
                if isinstance(inner, list) and any(isinstance(part, list) for part in inner):
                    stack.append(inner)
                else:
                    stack.extend([str(key), part] for part in reversed(inner if isinstance(inner, list) else [inner]))
        elif isinstance(item, list):
            if len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], (str, float)):
                yield item[0], _plain(item[1])
            else:
                stack.extend(part for part in reversed(item) if isinstance(part, list))


def _plain(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else value


def parse_entities(text: str, types: Sequence[str] = ()) -> tuple[list[Typed] | None, str]:
    """Reads named entities with their types: ``TYPE: phrase``, ``phrase (TYPE)``, JSON, lists of pairs.

    Types are combined as SLUE-VoxPopuli scores them (DATE and TIME are WHEN, GPE and LOC are PLACE, ...; FAC, EVENT,
    WORK_OF_ART, PRODUCT and LANGUAGE are left out); phrases are lower case without punctuation.

    Args:
        text: A label or a model's answer.
        types: Further types to know.

    Returns:
        (type, phrase) pairs in order and ``ok``; an empty list and ``nothing`` for an answer that says there are none; or
        None and ``empty`` or ``no_entity``.
    """
    text = beginning(text).replace("*", "").replace("`", "")
    if not text:
        return None, "empty"
    known = {**{_type_name(name): name.upper() for name in types}, **_COMBINED}
    oriented = (_oriented(pair, known) for pair in _mapped(read_groups(text, limit=1000) if text[0] in "[{(" else []))
    found = [pair for pair in oriented if pair is not None] or list(_typed_phrases(text, known))
    if not found:
        return ([], "nothing") if _NO_ENTITIES.search(text) else (None, "no_entity")
    return [(kind, _phrase(phrase)) for kind, phrase in found if kind and _phrase(phrase)], "ok"


def _type_name(text: Any) -> str:
    return " ".join(str(text).replace("_", " ").upper().split())


def _oriented(pair: Typed, known: dict[str, str]) -> Typed | None:
    for kind, phrase in (pair, pair[::-1]):
        if _type_name(kind) in known:
            return known[_type_name(kind)], phrase
    return None


def _phrase(text: str) -> str:
    return " ".join(re.sub(rf"[{re.escape(string.punctuation)}“”‘’]", " ", text.lower().replace("'s", " s")).split())


@lru_cache(maxsize=16)
def _entity_patterns(types: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = "|".join(re.escape(name).replace("\\ ", "[ _]") for name in sorted(types, key=len, reverse=True))
    head = re.compile(rf"(?:^|[,;\n])[\s>\"'(\[-]{{0,80}}+({names})s?[\"']?\s*(?:[:=]|\s-\s)", re.IGNORECASE)
    tail = re.compile(rf"[(\[]\s*({names})\s*[)\]]", re.IGNORECASE)
    return head, tail


def _typed_phrases(text: str, known: dict[str, str]) -> Iterator[Typed]:
    head, tail = _entity_patterns(tuple(known))
    heads = list(head.finditer(text))
    if not heads:
        at = 0
        for match in tail.finditer(text):
            before = text[max(at, match.start() - 200) : match.start()]
            yield known[_type_name(match[1])], re.split(r"[,;:\n]", before)[-1]
            at = match.end()
        return
    for match, following in zip(heads, [*heads[1:], None], strict=False):
        for phrase in re.split(r"[,;\n]", text[match.end() : following.start() if following else len(text)]):
            if phrase.strip():
                yield known[_type_name(match[1])], phrase


class Tagged(NamedTuple):
    """The tag of each word, and the sentence, "" where only tags are given."""

    tags: tuple[str, ...]
    sentence: str


def parse_tags(text: str, tags: Sequence[str] = TAGS) -> tuple[Tagged | None, str]:
    """Reads part-of-speech tags: ``TAGS``, ``sentence / TAGS`` or ``(transcription): sentence / (POS): TAGS``.

    The text is cut at "(POS):" or at its last " / "; of the part behind, only known tags count.  Tags are read in lower case
    too if the part holds nothing else.

    Args:
        text: A label or a model's answer.
        tags: Known tags.

    Returns:
        Sentence and tags and ``ok``, or None and ``empty`` or ``no_tag``.
    """
    text = beginning(text)
    if not text:
        return None, "empty"
    known = frozenset(tag.upper() for tag in tags)
    sentence, half = "", text
    cuts = list(_TAG_HALF.finditer(text))
    if cuts:
        named = [cut for cut in cuts if ":" in cut[0]]
        cut = (named or cuts)[-1]
        sentence, half = text[: cut.start()].rstrip(" /\t\n"), text[cut.end() :]
    words = re.findall(r"[^\W\d_]+", half)
    found = tuple(word for word in words if word in known)
    if not found and words and all(word.upper() in known for word in words):
        found = tuple(word.upper() for word in words)
    if not found:
        return None, "no_tag"
    return Tagged(found, _SENTENCE_MARK.sub("", sentence).strip()), "ok"
