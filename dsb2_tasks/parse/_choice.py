"""Which of the offered options an answer names; deterministic, and blind to the right one.

The rule is the paper's: exactly one option, or the answer is wrong.  Nothing is guessed and no string distance is used,
since labels such as ``Tha``/``Thi`` or ``close``/``closed`` lie one letter apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from dsb2_tasks.parse._clean import boxed, clean
from dsb2_tasks.parse._literal import Pairs, read_groups
from dsb2_tasks.parse._numerals import read_numeral, spell
from dsb2_tasks.parse._tokens import Tokens, split_camel, tokenize, word_set

_ANSWER_WORDS = word_set("answer prediction label category class")
_MODALS = word_set("should would could might must may will most likely probably definitely clearly therefore thus")
_IS = word_set("is was be")
#: Words that are said for other reasons than to name an option; they count only where marked as named.
_FRAGILE = word_set("yes no on off up down go left right stop one a i an the is it to in at as be he we me so or and of")
#: Words before a named word, and words that may follow one.
_CUES = word_set(
    "is was be are say says said saying word words command option choice phone phoneme vowel consonant sound letter "
    "symbol note keyword answer choose chose pick picked select selected hear heard utters utter tonic key so "
    "therefore thus hence think guess believe suppose"
)
_GO = word_set("go going went")
#: Words before a letter that is meant.
_LETTER_CUES = word_set("is be answer choose chose pick picked select selected")
_FOLLOWERS = word_set("and or but than because since rather instead not as so")
#: After these, or before those, "one" is a pronoun.
_ONE_AFTER, _ONE_BEFORE = (
    word_set("this that the which each every no any some other another"),
    frozenset({"of"}),
)
_NEGATORS = word_set("not no never without neither nor cannot than instead except unlike excluding opposed")
_NO_NEGATION = word_set("only just merely simply")
_CERTAIN = word_set("doubt question")
#: With one of these between, a negator reaches further: "I don't think that the speaker is happy".
_HELD = word_set(
    "think believe case evidence sign signs indication hint proof suggest suggests suggesting indicate indicates indicating"
)
#: How many words before an option a negator reaches it: alone, with "whether", with one of the words above.
_NEAR, _WHETHER, _FAR = 4, 6, 12
_CLAUSES = word_set("and so because since as while therefore thus")
#: What joins the options of an enumeration, and what opens one that quotes the question.
_JOINTS = word_set("and or nor vs versus a an the")
_QUOTING = word_set("between among options choices candidates possibilities alternatives")
_LIST_GAP = re.compile(r"[,;/&\"'“”‘’]*")
_TURNS = word_set("but however though although yet rather")
#: "no" before one of these is an answer, before any other word it is a determiner.
_AFTER_BARE_NO = word_set("it there this that these those they he she i we you the because since as yes no and or but")
_LIST_SIGNS = (",", ";", "/", "&")
#: What may open before an option without parting it from the words before.
_OPENERS = " ([{\"'“‘"
_STOPS = re.compile(r"[.,;:!?()\[\]{}\n—]")
_LEFT_MARK, _RIGHT_MARK = re.compile(r"[\"'“”‘’«»()\[\]{}/<>]$"), re.compile(r"^[\"'“”‘’«»()\[\]{}/<>]")
_LETTER_END = re.compile(r"^[.):\]]")
_ARTICLES = frozenset({"a", "an", "the"})
_NOTES = frozenset("abcdefg")
#: More lists, or longer ones, are no answer to an instruction that offers some hundred options at most.
_MOST_LISTS, _LONGEST_LIST = 20, 1000
#: Characters of an answer that are read at most.
_LONGEST = 200_000
#: What is stated more often than this is stated.
_ENOUGH = 50

Words = tuple[str, ...]


@dataclass(frozen=True)
class _Form:
    """One wording of an option: its words, the signs between them, as written."""

    option: str
    words: Words
    gaps: Words
    surfaces: Words


@dataclass(frozen=True)
class _Mention:
    start: int
    end: int
    options: tuple[str, ...]
    negated: bool


class _Options:
    """The forms of a set of options, prepared once."""

    def __init__(self, options: Words, aliases: tuple[tuple[str, Words], ...]) -> None:
        self.options = options
        own = {option: tokenize(option) for option in options}
        taken = {tokens.words for tokens in own.values()}
        wordings: list[tuple[str, Tokens]] = []
        for option in options:
            named = [own[option], tokenize(split_camel(option))]
            named += [tokenize(alias) for name, group in aliases if name == option for alias in group]
            wordings += [(option, tokens) for tokens in named]
            wordings += [(option, more) for tokens in named for more in _variants(tokens) if more.words not in taken]
        self.signed = any(word[0] in "+-" for tokens in own.values() for word in tokens.words)
        self.numbers = all(_is_number(tokens.words) for tokens in own.values())
        self.yes_no = sorted(tokens.words for tokens in own.values()) == [("no",), ("yes",)]
        self.musical = any(re.fullmatch(r"[a-g][#b]", word) for tokens in own.values() for word in tokens.words)
        self.forms: dict[Words, list[_Form]] = {}
        self.bare: dict[Words, list[_Form]] = {}
        for option, tokens in wordings:
            self._add(option, tokens)
        self.vocabulary = {word for words in (*self.forms, *self.bare) for word in words}
        self.fragile = {words for words in (*self.forms, *self.bare) if self._is_fragile(words)}
        self.longest = max(map(len, self.forms), default=0)
        self.starts = _by_first_word(self.forms)
        self.bare_starts = _by_first_word(self.bare)

    def _add(self, option: str, tokens: Tokens) -> None:
        for table, words in ((self.forms, self.words(tokens)), (self.bare, tuple(map(_bare, tokens.words)))):
            form = _Form(option, words, tokens.gaps[1:-1], tokens.surfaces)
            known = table.setdefault(words, []) if words else []
            if form not in known:
                known.append(form)

    def words(self, tokens: Tokens) -> Words:
        """The words as this set compares them: a sign in front counts only where options differ by it."""
        return tokens.words if self.signed else tuple(map(_bare, tokens.words))

    def _is_fragile(self, form: Words) -> bool:
        if len(form) != 1:
            return False
        word = form[0]
        return (word in _FRAGILE and not (self.numbers and word == "one")) or _is_letter(word)


def _bare(word: str) -> str:
    return word[1:] if word[0] in "+-" and not word[1:2].isdigit() else word


def _is_letter(word: str) -> bool:
    """One letter of an alphabet (an IPA letter too), not a sign that stands for a word."""
    return word[0].isalpha() and len(word) == 1 and not "\u3007" <= word <= "\U0003ffff"


def _is_number(words: Words) -> bool:
    if len(words) == 1 and words[0].isdigit():
        return True
    numeral = read_numeral(words)
    return numeral is not None and numeral[1] == len(words)


def _by_first_word(forms: Mapping[Words, object]) -> dict[str, list[int]]:
    """The lengths of the forms that begin with a word, longest first."""
    starts: dict[str, set[int]] = {}
    for words in forms:
        starts.setdefault(words[0], set()).add(len(words))
    return {first: sorted(lengths, reverse=True) for first, lengths in starts.items()}


def _variants(tokens: Tokens) -> list[Tokens]:
    """The plural, and several words written as one; the other spelling of a number."""
    words = tokens.words
    if len(words) == 1 and words[0].isdigit() and words[0].isascii() and len(words[0]) <= 6:
        spelled = spell(int(words[0]))
        return [tokenize(spelled)] if spelled else []
    if (numeral := read_numeral(words)) is not None and numeral[1] == len(words) and numeral[0].is_integer():
        return [tokenize(str(int(numeral[0])))]
    if not words or not all(word.isalpha() for word in words):
        return []
    joined = [tokenize("".join(words))] if len(words) > 1 else []
    return [*joined, tokenize(" ".join(words) + "s")] if len(words[-1]) > 2 else joined


@lru_cache(maxsize=512)
def _prepare(options: Words, aliases: tuple[tuple[str, Words], ...]) -> _Options:
    return _Options(options, aliases)


def _prepared(options: Sequence[str], aliases: Mapping[str, Sequence[str]] | None) -> _Options:
    return _prepare(tuple(options), tuple((name, tuple(group)) for name, group in (aliases or {}).items()))


def _readable(answer: str) -> str:
    """An answer without thinking and markup; of more text than any instruction asks for, its beginning and its end."""
    text = clean(answer).replace("*", "").replace("`", "").strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


class _Answer:
    """An answer against a set of options."""

    def __init__(self, text: str, offered: _Options) -> None:
        tokens = tokenize(text)
        if offered.musical:
            tokens = _join_accidentals(tokens)
        tokens = _without_pictures(tokens, offered.vocabulary)
        self.offered = offered
        self.words = offered.words(tokens)
        self.bare = tuple(map(_bare, tokens.words)) if offered.signed else self.words
        self.surfaces, self.gaps = tokens.surfaces, tokens.gaps
        self.end = len(self.words)

    def spans(self) -> list[int]:
        """Where the candidate spans begin: after the last "answer is", then the whole."""
        cue = self._after_last_cue()
        return [0] if cue is None or cue >= self.end else [cue, 0]

    def _after_last_cue(self) -> int | None:
        for at in range(self.end - 1, -1, -1):
            if self.words[at] not in _ANSWER_WORDS:
                continue
            if re.search("[:=]", self.gaps[at + 1]) or ("\n" in self.gaps[at + 1] and self._heads_a_line(at)):
                return at + 1
            after = at + 1
            while after < self.end and after < at + 5 and not _STOPS.search(self.gaps[after]):
                if self.words[after] in _IS:
                    return after + 1
                if self.words[after] not in _MODALS:
                    break
                after += 1
        return None

    def _heads_a_line(self, at: int) -> bool:
        """Whether a word ends a line of three words or less."""
        return any(back == 0 or "\n" in self.gaps[back] for back in range(at, max(at - 3, -1), -1))

    def exact(self, begin: int, end: int) -> tuple[str, ...]:
        """The options of which the words from ``begin`` to ``end`` are a form, signs apart."""
        if end - begin > self.offered.longest:
            return ()
        found = self._named(self.offered.forms, self.words, begin, end)
        return found or (self._named(self.offered.bare, self.bare, begin, end) if self.offered.signed else ())

    def only(self) -> str | None:
        """The option that the whole text is."""
        found = self.exact(0, self.end)
        return found[0] if len(found) == 1 else None

    def _named(self, table: dict[Words, list[_Form]], words: Words, begin: int, end: int) -> tuple[str, ...]:
        forms = [form for form in table.get(words[begin:end], ()) if self._gaps_fit(form, begin)]
        options = tuple(dict.fromkeys(form.option for form in forms))
        if len(options) < 2:
            return options
        # Options that differ only in case, or by a sign that NFKC folds (pʰ, ph): what is written as the option is meant.
        written = dict.fromkeys(form.option for form in forms if form.surfaces == self.surfaces[begin:end])
        return tuple(written) if len(written) == 1 else options

    def _gaps_fit(self, form: _Form, begin: int) -> bool:
        if len(form.words) == 1:
            return True
        gaps = self.gaps[begin + 1 : begin + len(form.words)]
        return all(gap in ("", own) or (gap in ("-", "/") and not own) for gap, own in zip(gaps, form.gaps, strict=True))

    def heading(self, begin: int) -> int | None:
        """End of the first line of a span if it stands apart from explanations: no other line names an option alone."""
        ends = [at for at in range(begin + 1, self.end) if "\n" in self.gaps[at]]
        if not ends or (begin == 0 and "\n\n" not in self.gaps[ends[0]]):
            return None
        lines = zip(ends, [*ends[1:], self.end], strict=True)
        return None if any(self.exact(a, b) for a, b in lines) else ends[0]

    def field(self, begin: int) -> int | None:
        """End of the value of a JSON field that begins there."""
        if not re.match("[\"']:", self.gaps[begin]):
            return None
        return next((at for at in range(begin + 1, self.end) if re.search("[\"',}]", self.gaps[at])), None)

    def mentions(self, begin: int) -> list[_Mention]:
        """Every option named from ``begin`` on: longest form first, none inside of another, none negated."""
        return [mention for run in self._runs(begin) for mention in run]

    def choices(self, begin: int) -> list[_Mention]:
        """The mentions without the enumerations that only repeat the question ("Between happy and sad, I choose sad")."""
        runs = self._runs(begin)
        quoted = [run for run in runs if self._quotes(run, begin)]
        if not quoted:
            return [mention for run in runs for mention in run]
        offered = {option for run in quoted for mention in run for option in mention.options}
        rest = [mention for run in runs if run not in quoted for mention in run]
        chosen = {option for mention in rest for option in mention.options}
        return rest if chosen and chosen <= offered else [mention for run in runs for mention in run]

    def _runs(self, begin: int) -> list[list[_Mention]]:
        """The mentions that stand, in enumerations; "not happy, sad or angry" negates all of one."""
        found = self._scan(self.offered.forms, self.offered.starts, self.words, begin)
        if not any(not mention.negated for mention in found) and self.offered.signed:
            found = self._scan(self.offered.bare, self.offered.bare_starts, self.bare, begin)
        runs: list[list[_Mention]] = []
        for mention in found:
            if runs and self._joined(runs[-1][-1], mention):
                runs[-1].append(mention)
            else:
                runs.append([mention])
        kept = ([] if self._all_negated(run) else [mention for mention in run if not mention.negated] for run in runs)
        return [run for run in kept if run]

    def _joined(self, one: _Mention, other: _Mention) -> bool:
        between = self.words[one.end : other.start]
        gaps = self.gaps[one.end : other.start + 1]
        return len(between) <= 3 and _JOINTS.issuperset(between) and all(map(_LIST_GAP.fullmatch, gaps))

    def _all_negated(self, run: list[_Mention]) -> bool:
        return run[0].negated and len(run) > 1 and not {"or", "nor"}.isdisjoint(self.words[run[-2].end : run[-1].start])

    def _quotes(self, run: list[_Mention], begin: int) -> bool:
        if len({mention.options for mention in run}) < 2:
            return False
        if self.gaps[run[-1].end].startswith(("?", '"?', ")?")):
            return True
        for back in range(run[0].start - 1, max(begin, run[0].start - 4) - 1, -1):
            if re.search(r"[.;!?\n]", self.gaps[back + 1]):
                return False
            if self.words[back] in _QUOTING:
                return True
        return False

    def _scan(self, table: dict[Words, list[_Form]], starts: dict[str, list[int]], words: Words, begin: int) -> list[_Mention]:
        found: list[_Mention] = []
        stated: dict[Words, int] = {}
        fragile = self.offered.fragile
        covered = begin
        inside: set[int] = set()  # words of options: a "no" among them negates nothing
        for at in range(begin, self.end):
            for length in starts.get(words[at], ()):
                end = at + length
                form = words[at:end]
                if not covered < end <= self.end or form not in table:
                    continue
                if stated.get(form, 0) >= _ENOUGH:
                    covered = end
                    break
                if form in fragile and self._is_passing(at):
                    break
                if not any(self._gaps_fit(known, at) for known in table[form]):
                    continue
                covered = end
                if self._counts(table, form, at, begin):
                    negated = self._negated(at, begin, inside)
                    found.append(_Mention(at, end, self._named(table, words, at, end), negated))
                    stated[form] = stated.get(form, 0) + (not negated)
                    inside.update(range(at, end))
                break
        return found

    def _is_passing(self, at: int) -> bool:
        """Whether a word stands in the middle of others: the common case of a word that marks nothing, decided fast."""
        following = at + 1
        return not self.gaps[at] and following < self.end and not self.gaps[following] and self.words[following] not in _FOLLOWERS

    def _counts(self, table: dict[Words, list[_Form]], form: Words, at: int, begin: int) -> bool:
        """Whether a form found at ``at`` names its option, and is not a word said for another reason."""
        end = at + len(form)
        if form not in self.offered.fragile and form != ("one",):
            return True
        if form == ("one",) and self.offered.numbers:
            before = self.words[at - 1] if at > begin and not self.gaps[at] else ""
            after = self.words[end] if end < self.end and not self.gaps[end] else ""
            return before not in _ONE_AFTER and after not in _ONE_BEFORE
        if _is_letter(form[0]) and all(known.surfaces != self.surfaces[at:end] for known in table[form]):
            return False
        return self._marked(at, end, begin)

    def _marked(self, at: int, end: int, begin: int) -> bool:
        left, right = self.gaps[at], self.gaps[end]
        if _LEFT_MARK.search(left) and _RIGHT_MARK.search(right):
            return True
        alone = end == self.end or right != ""
        if not alone and self.words[end] not in _FOLLOWERS:
            return False
        if at == begin:
            return begin > 0 or alone or self._leads_to_another(end)
        if left and (self._leads_to_another(end) or (self.offered.yes_no and alone)):
            return True
        if at >= begin + 2 and self.words[at - 1] in ("and", "or") and self.words[at - 2] in self.offered.starts:
            return True  # "A or B" names both
        if left in _LIST_SIGNS and self.words[at - 1] in self.offered.starts:
            return True  # and so does "A, B"
        if self.words[at - 1] == "with" and at >= begin + 2 and self.words[at - 2] in _GO and not left:
            return True  # "I'd go with yes"
        return bool(re.search("[:=]", left)) or (self.words[at - 1] in _CUES and not re.search(r"[.,;!?\n]", left))

    def _leads_to_another(self, end: int) -> bool:
        """Whether "or" or "and" and another option follow."""
        return end + 1 < self.end and self.words[end] in ("and", "or") and self.words[end + 1] in self.offered.starts

    def _negated(self, at: int, begin: int, inside: set[int]) -> bool:
        held = False
        for back in range(at - 1, max(begin, at - _FAR) - 1, -1):
            gap = self.gaps[back + 1]
            if gap and _STOPS.search(gap.rstrip(_OPENERS) if back + 1 == at else gap):
                return False
            if back in inside:
                continue
            word = self.words[back]
            if word in _NEGATORS or word.endswith("n't"):
                if self._denies(back, begin) and (held or back >= at - _NEAR):
                    return True
            elif word in _TURNS or (word in _CLAUSES and back < at - _NEAR):
                return False
            elif word == "whether" and back >= at - _WHETHER:
                return True
            held = held or word in _HELD
        return False

    def _denies(self, at: int, begin: int) -> bool:
        """Whether a negator denies what follows: not so "not only", "without a doubt" and the "than" of "less ... than"."""
        following = self.words[at + 1 : at + 3]
        if not _NO_NEGATION.isdisjoint(following[:1]):
            return False
        if self.words[at] in ("no", "without") and not _CERTAIN.isdisjoint(following):
            return False
        return self.words[at] != "than" or "less" not in self.words[max(begin, at - 4) : at]

    def yes_or_no(self, begin: int) -> tuple[str, ...]:
        """For a yes/no set: the answer a span begins with; both if the other stands there bare too."""
        if begin >= self.end or not self._bare_answer(begin):
            return ()
        first = self.words[begin]
        other = any(self._bare_answer(at) for at in range(begin + 1, self.end) if self.words[at] != first)
        yes, no = sorted(self.offered.options, key=str.casefold, reverse=True)
        return (yes, no) if other else ((yes,) if first == "yes" else (no,))

    def _bare_answer(self, at: int) -> bool:
        if self.words[at] == "yes":
            return True
        if self.words[at] != "no":
            return False
        return at + 1 == self.end or self.gaps[at + 1] != "" or self.words[at + 1] in _AFTER_BARE_NO

    def letters(self, begin: int, end: int) -> tuple[str, ...]:
        """The options whose letters stand in a span as ``(B)``, ``B.``, ``option B`` or alone."""
        found: dict[str, None] = {}
        known = {chr(ord("A") + place): option for place, option in enumerate(self.offered.options[:26])}
        for at in range(begin, end):
            option = known.get(unicodedata.normalize("NFKC", self.surfaces[at]))
            if option is not None and self._is_letter_answer(at, begin, end):
                found[option] = None
        return tuple(found)

    def _is_letter_answer(self, at: int, begin: int, end: int) -> bool:
        left, right = self.gaps[at], self.gaps[at + 1]
        if (left.endswith(("(", "[")) and right.startswith((")", "]"))) or (
            at > 0 and self.words[at - 1] in ("option", "choice")
        ):
            return True
        if at != begin and "\n" not in left:
            cued = self.words[at - 1] in _LETTER_CUES or self.surfaces[at - 1].endswith("'s")
            return cued and not left and (end == at + 1 or right != "")
        alone = end == at + 1 or bool(_LETTER_END.search(right))
        return alone or (begin > 0 and at == begin and (right != "" or self.surfaces[at] not in "AI"))


def _join_accidentals(tokens: Tokens) -> Tokens:
    """Joins the words of a note: "C sharp" is C#, "E flat" is Eb."""
    words: list[str] = []
    surfaces: list[str] = []
    gaps: list[str] = []
    for word, surface, gap in zip(tokens.words, tokens.surfaces, tokens.gaps, strict=False):
        if word in ("sharp", "flat") and words and gap == "" and words[-1] in _NOTES and surfaces[-1] != "a":
            words[-1] += "#" if word == "sharp" else "b"
            surfaces[-1] += f" {surface}"
        else:
            words.append(word)
            surfaces.append(surface)
            gaps.append(gap)
    return Tokens(tuple(words), tuple(surfaces), (*gaps, tokens.gaps[-1]))


def _without_pictures(tokens: Tokens, vocabulary: set[str]) -> Tokens:
    """Emojis and the like that no option names become signs between words."""
    pictures = {word for word in set(tokens.words) - vocabulary if not any(map(str.isalnum, word))}
    if not pictures:
        return tokens
    words: list[str] = []
    surfaces: list[str] = []
    gaps = [tokens.gaps[0]]
    for word, surface, gap in zip(tokens.words, tokens.surfaces, tokens.gaps[1:], strict=True):
        if word in pictures:
            gaps[-1] = (gaps[-1] + word)[:16] + gap
        else:
            words.append(word)
            surfaces.append(surface)
            gaps.append(gap)
    return Tokens(tuple(words), tuple(surfaces), tuple(gap[:16] for gap in gaps))


def choose_option(
    answer: str, options: Sequence[str], *, aliases: Mapping[str, Sequence[str]] | None = None, letters: bool = False
) -> tuple[str | None, str]:
    """Reads which one option an answer chooses.

    Args:
        answer: A model's answer.
        options: The closed set that the instruction offers.
        aliases: Further wordings of an option.
        letters: Whether the instruction letters its options (A, B, ...), so that a letter is an answer.

    Returns:
        The option as it stands in ``options`` and how it was found (``exact``, ``letter``, ``lead``, ``mention``), or None
        and why not (``empty``, ``no_option``, ``ambiguous``).
    """
    text = _readable(answer)
    if not text:
        return None, "empty"
    if text in options:
        return text, "exact"
    offered = _prepared(options, aliases)
    for part in filter(None, (boxed(text), text)):
        read = _Answer(part, offered)
        for begin in read.spans():
            found, status = _read_span(read, begin, letters)
            if len(found) == 1:
                return found[0], status
            if found:
                return None, "ambiguous"
    return None, "no_option"


def _read_span(read: _Answer, begin: int, letters: bool) -> tuple[tuple[str, ...], str]:
    field, heading = read.field(begin), read.heading(begin)
    for end in (read.end, field, heading):
        if end is not None and (found := read.exact(begin, end)):
            return found, "exact"
    if letters:
        for end in (field, heading, read.end):
            if end is not None and (found := read.letters(begin, end)):
                named = [option for mention in read.mentions(begin) if mention.end <= end for option in mention.options]
                return tuple(dict.fromkeys((*found, *named))), "letter"
    if read.offered.yes_no and (found := read.yes_or_no(begin)):
        return found, "lead"
    mentioned = [option for mention in read.choices(begin) for option in mention.options]
    return tuple(dict.fromkeys(mentioned)), "mention"


def choose_labels(
    answer: str, options: Sequence[str], *, aliases: Mapping[str, Sequence[str]] | None = None
) -> tuple[tuple[str, ...], str]:
    """Reads which options an answer lists, in the order named.

    A JSON or Python list is read first, then an enumeration of nothing but options, then every option that is mentioned and
    not negated. What is no option is left out.

    Args:
        answer: A model's answer.
        options: The closed set that the instruction offers.
        aliases: Further wordings of an option.

    Returns:
        The options and ``ok``, or nothing and ``empty`` or ``no_option``.
    """
    text = _readable(answer)
    if not text:
        return (), "empty"
    offered = _prepared(options, aliases)
    if found := _listed(text, offered):
        return found, "ok"
    read = _Answer(text, offered)
    for begin in read.spans():
        if found := _enumerated(read, begin):
            return found, "ok"
        named = [m.options[0] for m in read.mentions(begin) if len(m.options) == 1]
        if named:
            return tuple(dict.fromkeys(named)), "ok"
    return (), "no_option"


def _listed(text: str, offered: _Options) -> tuple[str, ...]:
    """Options of a bracketed list all of whose items are options."""
    for group in read_groups(text, limit=_MOST_LISTS):
        found = [_Answer(item, offered).only() for item in islice(_strings(group), _LONGEST_LIST)]
        if found and None not in found:
            return tuple(dict.fromkeys(option for option in found if option is not None))
    return ()


def _strings(group: object) -> Iterator[str]:
    """The texts of a list; of a mapping its values."""
    stack = [group]
    while stack:
        item = stack.pop()
        if isinstance(item, Pairs):
            stack.extend(value for _, value in reversed(item))
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, bool):
            yield str(item).lower()
        elif isinstance(item, float):
            yield f"{item:g}"
        elif isinstance(item, str):
            yield item


def _enumerated(read: _Answer, begin: int) -> tuple[str, ...]:
    """Options of a span that is nothing but an enumeration: cut at commas, semicolons, line ends and "and"."""
    found: list[str] = []
    piece = begin
    for at in range(begin + 1, read.end + 1):
        joint = at < read.end and read.words[at] in ("and", "&")
        if at < read.end and not joint and not re.search(r"[,;\n&]", read.gaps[at]):
            continue
        if piece < at:
            start = piece
            if read.words[start].isdigit() and start + 1 < at and re.search(r"^[.):]", read.gaps[start + 1]):
                start += 1
            while start < at - 1 and read.words[start] in _ARTICLES:
                start += 1
            options = read.exact(start, at)
            if len(options) != 1 or len(found) >= _LONGEST_LIST:
                return ()
            found.append(options[0])
        piece = at + 1 if joint else at
    return tuple(dict.fromkeys(found))


def match_option(text: str, options: Sequence[str], *, aliases: Mapping[str, Sequence[str]] | None = None) -> str | None:
    """The option that a text is a wording of, as a whole; None if there is none or several. For labels rather than answers."""
    return text if text in options else _Answer(text, _prepared(options, aliases)).only()
