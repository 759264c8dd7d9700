"""Which of the offered options an answer names; deterministic, and blind to the right one.

The rule is the paper's: exactly one option, or the answer is wrong.  Nothing is guessed and no string distance is used,
since labels such as ``Tha``/``Thi`` or ``close``/``closed`` lie one letter apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from dsb2_tasks.parse._clean import boxed, clean
from dsb2_tasks.parse._cues import ANSWER_WORDS, IS, MODALS
from dsb2_tasks.parse._literal import Pairs, read_groups
from dsb2_tasks.parse._numerals import NUMERALS, TENS, UNITS, read_numeral, spell
from dsb2_tasks.parse._tokens import Tokens, split_camel, tokenize, word_set

#: "The answer is based on ..." names no answer.
_GROUNDS = word_set("based because due derived supported")
#: What may stand between a cue and what is named: "the answer is most likely yes".
_HEDGES = word_set(
    "most very likely probably definitely clearly certainly surely perhaps maybe possibly presumably obviously apparently"
)
#: Words that are said for other reasons than to name an option; they count only where marked as named.
_FRAGILE = word_set("yes no on off up down go left right stop one a i an the is it to in at as be he we me so or and of")
#: Words before a named word, and words that may follow one.
_CUES = word_set(
    "is was be are say says said saying word words command option choice phone phoneme vowel consonant sound letter "
    "symbol note keyword answer choose chose pick picked select selected hear heard utters utter tonic key so "
    "therefore thus hence think guess believe suppose"
)
_GO = word_set("go going went")
_ITS = frozenset({"it's", "answer's"})
#: Words before a letter that is meant, and words that give a reason for it.
_LETTER_CUES = word_set("is be answer choose chose pick picked select selected think believe guess say")
_REASONS = word_set("because since as")
_FOLLOWERS = word_set("and or but than because since rather instead not as so")
#: After these, or before those, "one" is a pronoun.
_ONE_AFTER, _ONE_BEFORE = (
    word_set("this that the which each every no any some other another"),
    frozenset({"of"}),
)
_NEGATORS = word_set(
    "not no never without neither nor cannot than instead except unlike excluding opposed nothing hardly scarcely "
    "lack lacks lacked lacking absence devoid doubt doubts doubtful unlikely improbable"
)
_NEGATING_PAIRS = frozenset({("far", "from"), ("less", "likely"), ("least", "likely"), ("anything", "but")})
_NO_NEGATION = word_set("only just merely simply")
_CERTAIN = word_set("doubt doubts question")
#: Before "doubt" these make it none; so do they with "anything but".
_NO_DOUBT = word_set("no not never without beyond little cannot")
#: With one of these between, a negator reaches further: "I don't think that the speaker is happy".
_HELD = word_set(
    "think believe case evidence sign signs indication hint proof suggest suggests suggesting indicate indicates indicating"
)
#: How many words before an option a negator reaches it: alone, if one of the next words, with one of the words above.
_NEAR, _WHETHER, _FAR = 4, 6, 12
_REACHING = word_set("whether doubt doubts doubtful unlikely improbable")
_CLAUSES = word_set("and so because since as while therefore thus")
#: After "and" these open a clause that no negator before reaches: "it lacks noise and is clean".
_AND_IS = frozenset(("and", verb) for verb in ("is", "it", "was", "sounds", "seems", "has"))
#: What joins the options of an enumeration, and what opens one that quotes the question.
_JOINTS = word_set("and or nor vs versus a an the")
_QUOTING = word_set("between among options choices candidates possibilities alternatives")
_QUOTING_CLAUSES = word_set("between among from")
_CHOOSING = word_set("choose choosing select selecting pick picking")
_OFFERED = word_set("the these those following given possible options choices candidates labels classes categories")
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

#: What says of an option before it that it is none: "happy is wrong", "speech is not present". This and what follows is
#: matched with words that have one blank and the signs between them in front.
_SURELY = r"(?:(?!only )\w+ly |even |really )?"
_DENIED = re.compile(
    r"[\"'”’)\]]{0,3}(?: (?:option|choice|answer|label|class|emotion|sounds?|noises?|tones?))?"
    rf" (?:(?:is|are|was|were) {_SURELY}(?:wrong|incorrect|false|absent|missing|inaudible|unlikely|improbable|implausible"
    rf"|impossible|ruled out|excluded|eliminated)|(?:can|could|should|must) {_SURELY}be (?:ruled out|excluded|eliminated)"
    rf"|(?:(?:is|are|was|were|do|does|did|can|could|would) {_SURELY}not|\w+n't|cannot) (?:be |seem |sound ){{0,2}}{_SURELY}"
    r"(?:present|audible|heard|detected|detectable|discernible|perceptible|noticeable|evident|found|there|correct|right|likely"
    r"|possible|plausible|supported|included|applicable|fit|apply|occur|an option"
    rf"|(?:the|my) (?:\w+ )?(?:answer|option|choice|label|one))|(?:is|are|was|were) {_SURELY}not(?=$|[.,;]))\b"
)
#: The same as a field: "dog: no", "dog (absent)", '"dog": false', '"dog", "present": false'.
_DENIED_FIELD = re.compile(
    r"[\"'”’)\]]{0,3}(?:,[\"']? (?:present|detected|heard|audible|active)[\"']?)?[:=|(>-]{1,3}[\"'(\[]{0,2}"
    r"(?: (?:no|false|absent|none|null)(?=$|[.\"')\]},;|\n])| not (?:present|audible|heard|detected|found|there)\b|[❌✗✘✖])"
    r"|[\"']?[:=][\"']? 0(?=[\"']?(?:$|[}\n]|[,;][\"']* \D))"  # but "dog: 0, 1.2" is a time
)
#: Options with one of these say no themselves: "no (not audible)" is no denial of it.
_SAYS_NO = word_set("no not none non without absent false")
#: And what says that it is the one.
_AFFIRMED = re.compile(r"[\"'”’)\]]{0,3} is (?:correct|right|(?:the|my) (?:\w+ )?(?:answer|option|choice|one))\b")
_PLURAL = word_set("are were aren't weren't do don't did didn't can could cannot can't couldn't")
#: Over a list of what is not there.
_ABSENT, _THERE = word_set("absent missing inaudible"), word_set("present heard audible detected found")

_DIGITS = re.compile(r"[+-]?\d+(?:\.\d+)?")
_SCALES = word_set("hundred thousand million billion trillion")
#: Words that go on with the number before them: any number, a ten, digits.
_PARTS = _SCALES | word_set("hundreds thousands millions billions dozen dozens half halves third thirds quarter quarters")
_ORDINALS = word_set("first second third fourth fifth sixth seventh eighth ninth")
_TAIL = re.compile(r"st|nd|rd|th|k|d|e\d+|\d⁄\d+")
#: The blank that parts "3, 25" from "3,25".
_APART = re.compile(r"(?<=\d[,.]) +(?=\d)")
#: No number has more words.
_LONGEST_NUMBER = 12

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
        self.numerals = {words for words in (*self.forms, *self.bare) if _is_number(words)}
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
        tokens = tokenize(_APART.sub(" ; ", text) if offered.numerals else text)
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
        return [0] if self._cue is None or self._cue >= self.end else [self._cue, 0]

    @cached_property
    def _cue(self) -> int | None:
        """The word after the last "answer is"."""
        for at in range(self.end - 1, -1, -1):
            if self.words[at] not in ANSWER_WORDS:
                continue
            if re.search("[:=]", self.gaps[at + 1]) or ("\n" in self.gaps[at + 1] and self._heads_a_line(at)):
                return at + 1
            after = at + 1
            while after < self.end and after < at + 5 and not _STOPS.search(self.gaps[after]):
                if self.words[after] in IS:
                    if _GROUNDS.isdisjoint(self.words[after + 1 : after + 2]):
                        return after + 1
                    break
                if self.words[after] not in MODALS:
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

    def past_hedges(self, at: int) -> int:
        """Where what a span says begins: after its "most likely"."""
        begin = at
        while at + 1 < self.end and self._is_hedge(at) and self.gaps[at + 1] in ("", ",", ":"):
            at += 1
        return begin if at + 1 == self.end and self._is_hedge(at) else at

    def _first_hedge(self, at: int, begin: int) -> int:
        """Where the hedges that stand right before a word begin."""
        while at > begin and self._is_hedge(at - 1) and not self.gaps[at]:
            at -= 1
        return at

    def _is_hedge(self, at: int) -> bool:
        return self.words[at] in _HEDGES and self.words[at] not in self.offered.vocabulary

    def _named(self, table: dict[Words, list[_Form]], words: Words, begin: int, end: int) -> tuple[str, ...]:
        if words[begin:end] in self.offered.numerals and self._numbers.get(begin, (begin, end)) != (begin, end):
            return ()  # the "one" of "twenty-one"
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

    @cached_property
    def _numbers(self) -> dict[int, tuple[int, int]]:
        """The words of numbers of several words, each with where its number begins and ends."""
        numbers: dict[int, tuple[int, int]] = {}
        at = 0
        while at < self.end:
            end = self._number_end(at)
            if end > at + 1:
                numbers.update(dict.fromkeys(range(at, end), (at, end)))
            at = max(end, at + 1)
        return numbers

    def _number_end(self, at: int) -> int:
        """The end of the number that begins at ``at``; ``at`` if none does."""
        first = at + (self.words[at] in ("minus", "negative") and at + 1 < self.end and not self.gaps[at + 1])
        end = first + self._number_words(first)
        if end == first:
            return at
        while end < self.end and (more := self._more_words(end)):
            end += more
        return end

    def _number_words(self, at: int) -> int:
        """How many words a plain number has that begins at ``at``."""
        if self.words[at] in NUMERALS:
            stop = at + 1
            while stop < self.end and stop < at + _LONGEST_NUMBER and not self.gaps[stop]:
                stop += 1
            read = read_numeral(self.words[at:stop])
            return read[1] if read else 0
        return int(self.words[at] in _SCALES or _DIGITS.fullmatch(self.words[at]) is not None)

    def _more_words(self, at: int) -> int:
        """How many words from ``at`` on belong to the number that ends there: "hundred", "rd", "000", "and a half"."""
        last, word, gap = self.words[at - 1], self.words[at], self.gaps[at]
        digits = last[-1].isdigit()
        if digits and word.isdigit():
            return int(self._are_one_number(last, gap, word))
        if gap:
            return 0
        if word in _PARTS or (word in _ORDINALS and last in TENS) or (digits and _TAIL.fullmatch(word)):
            return 1
        following = self.words[at + 1] if at + 1 < self.end and self.gaps[at + 1] in ("", "+") else ""
        if (word == "e" and digits and following.isdigit()) or (word == "point" and (following in UNITS or following.isdigit())):
            return 2
        if self.words[at : at + 3] == ("and", "a", "half"):
            return 3
        if last in _SCALES:
            joint = int(word == "and" and following != "")
            words = self._number_words(at + joint)
            return joint + words if words else 0
        return 0

    def _are_one_number(self, one: str, gap: str, other: str) -> bool:
        """Whether digits go on after a sign or a blank: "1,000", "10 000", "3,25", "1.2.3"; not so "1,2" if both are options."""
        listed, going_on = ((word,) in self.offered.forms for word in (one, other))
        if gap == "":
            return not going_on or (len(other) == 3 and not listed)
        return gap == "." or (gap == "," and not (listed and going_on))

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

    def choices(self, begin: int, *, several: bool = False) -> list[_Mention]:
        """The mentions without the enumerations that only repeat the question ("Between happy and sad, I choose sad").

        Args:
            begin: Where the span begins.
            several: Whether several options may be named, so that an enumeration may be the answer.
        """
        return [mention for run in self._chosen_and_quoted(begin, several)[0] for mention in run]

    def quoted(self) -> list[tuple[str, ...]]:
        """The options of each enumeration that only repeats the question, where several options may be named."""
        return [tuple(option for mention in run for option in mention.options) for run in self._chosen_and_quoted(0, True)[1]]

    def _chosen_and_quoted(self, begin: int, several: bool) -> tuple[list[list[_Mention]], list[list[_Mention]]]:
        runs = self._runs(begin)
        chosen: list[list[_Mention]] = []
        quoted: list[list[_Mention]] = []
        for run in runs:
            repeats = self._quotes(run, begin) and (not several or self._only_offers(run, begin))
            (quoted if repeats else chosen).append(run)
        named = {option for run in chosen for mention in run for option in mention.options}
        offered = {option for run in quoted for mention in run for option in mention.options}
        return (chosen, quoted) if named and named <= offered else (runs, [])

    def _only_offers(self, run: list[_Mention], begin: int) -> bool:
        """Whether an enumeration that repeats the question could not be the answer of several options itself."""
        if {option for mention in run for option in mention.options}.issuperset(self.offered.options):
            return True
        if self.gaps[run[-1].end].startswith(("?", '"?', ")?")):
            return True
        return (self._cue is not None and self._cue >= run[-1].end) or self._opens_a_clause(run, begin)

    def _opens_a_clause(self, run: list[_Mention], begin: int) -> bool:
        """Whether "among", "between" or "from" opens a clause with an enumeration: "From a dog and a cat I choose ..."."""
        back = run[0].start - 1
        while back > begin and self.words[back] in (_OFFERED | _ARTICLES) and back > run[0].start - 6:
            back -= 1
        if back < begin or self.words[back] not in _QUOTING_CLAUSES:
            return False
        return back == 0 or self.gaps[back] != "" or self.words[back - 1] in _CHOOSING

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
        if len(run) < 2:
            return False
        end = run[-1].end
        either = not {"or", "nor"}.isdisjoint(self.words[run[-2].end : run[-1].start])
        if (run[0].negated and either) or self._is_listed_as_absent(run[0].start):
            return True
        return (
            run[-1].negated
            and (either or not _PLURAL.isdisjoint(self.words[end : end + 1]))
            and self._denied_after(run[-1].start, end)
        )

    def _quotes(self, run: list[_Mention], begin: int) -> bool:
        if len({mention.options for mention in run}) < 2:
            return False
        if self.gaps[run[-1].end].startswith(("?", '"?', ")?")) or self._opens_a_clause(run, begin):
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
                if not (named := self._named(table, words, at, end)):
                    continue
                covered = end
                if self._counts(table, form, at, begin):
                    negated = self._negated(at, begin, inside) or self._denied_after(at, end)
                    found.append(_Mention(at, end, named, negated))
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
        first = self._first_hedge(at, begin)
        if first == begin:
            return begin > 0 or alone or self._leads_to_another(end)
        if left and (self._leads_to_another(end) or (self.offered.yes_no and alone)):
            return True
        if at >= begin + 2 and self.words[at - 1] in ("and", "or") and self.words[at - 2] in self.offered.starts:
            return True  # "A or B" names both
        if left in _LIST_SIGNS and self.words[at - 1] in self.offered.starts:
            return True  # and so does "A, B"
        if self.words[at - 1] == "with" and at >= begin + 2 and self.words[at - 2] in _GO and not left:
            return True  # "I'd go with yes"
        if re.search("[:=]", left):
            return True
        if self.offered.yes_no and alone and self.words[first - 1] == "a" and first >= begin + 2:
            first -= 1  # "it's a yes"
        cued = self.words[first - 1] in _CUES or self.surfaces[first - 1].casefold() in _ITS or self._that_is(first - 1)
        return cued and not re.search(r"[.,;!?\n]", self.gaps[first])

    def _that_is(self, at: int) -> bool:
        """Whether "that's" stands there, which a yes or a no may follow; "that's right" names no side."""
        return self.offered.yes_no and self.surfaces[at].casefold() == "that's"

    def _leads_to_another(self, end: int) -> bool:
        """Whether "or" or "and" and another option follow."""
        return end + 1 < self.end and self.words[end] in ("and", "or") and self.words[end + 1] in self.offered.starts

    def _negated(self, at: int, begin: int, inside: set[int]) -> bool:
        if self._is_listed_as_absent(at):
            return True
        held = False
        for back in range(at - 1, max(begin, at - _FAR) - 1, -1):
            gap = self.gaps[back + 1]
            if gap and _STOPS.search(gap.rstrip(_OPENERS) if back + 1 == at else gap):
                return False
            if back in inside:
                continue
            word = self.words[back]
            if self._is_negator(back, begin):
                if self._denies(back, at, begin) and (held or back >= at - (_WHETHER if word in _REACHING else _NEAR)):
                    return True
            elif word in _TURNS or (word in _CLAUSES and (back < at - _NEAR or self.words[back : back + 2] in _AND_IS)):
                return False
            elif word == "whether" and back >= at - _WHETHER:
                return True
            held = held or word in _HELD
        return False

    def _is_negator(self, at: int, begin: int) -> bool:
        word = self.words[at]
        if word in _NEGATORS or word.endswith("n't"):
            return True
        if at == begin or (self.words[at - 1], word) not in _NEGATING_PAIRS:
            return False
        return word != "but" or not self._has_negation(max(begin, at - 5), at - 1)  # "I can't hear anything but speech"

    def _has_negation(self, begin: int, end: int) -> bool:
        return any(word in _NO_DOUBT or word.endswith("n't") for word in self.words[begin:end])

    def _denies(self, back: int, at: int, begin: int) -> bool:
        """Whether a negator denies what follows: not so "not only", "without a doubt" and the "than" of "less ... than"."""
        word, following = self.words[back], self.words[back + 1 : min(back + 4, at)]
        if not _NO_NEGATION.isdisjoint(following[:1]):
            return False
        if "doubt" in following or (word in ("no", "without") and not _CERTAIN.isdisjoint(following)):
            return False
        if word in ("doubt", "doubts"):
            return not self._has_negation(max(begin, back - 3), back)
        if word == "than":
            return "less" not in self.words[max(begin, back - 4) : back] and following[:1] != ("likely",)
        return True

    def _is_listed_as_absent(self, at: int) -> bool:
        """Whether an option stands right after "Absent:" or "Not present:"."""
        if at == 0 or ":" not in self.gaps[at] or (self.words[at - 1],) in self.offered.forms:
            return False
        word = self.words[at - 1]
        return word in _ABSENT or (word in _THERE and at > 1 and self.words[at - 2] == "not")

    def _denied_after(self, at: int, end: int) -> bool:
        """Whether what follows the option from ``at`` to ``end`` denies it; an option that follows denies none."""
        following = self._following(end)
        denied = _DENIED.match(following)
        if denied is None and not self.offered.yes_no and _SAYS_NO.isdisjoint(self.words[at:end]):
            denied = _DENIED_FIELD.match(following)
        return denied is not None and (denied[0].split()[-1],) not in self.offered.forms

    def _following(self, at: int, most: int = 8) -> str:
        """The next words with the signs between them, a blank before each word."""
        stop = min(at + most, self.end)
        words = zip(self.gaps[at:stop], self.words[at:stop], strict=True)
        return "".join(f"{gap} {word}" for gap, word in words) + self.gaps[stop]

    def yes_or_no(self, begin: int) -> tuple[str, ...]:
        """For a yes/no set: the answer a span begins with; both if the other stands there bare too."""
        if begin >= self.end or not self._bare_answer(begin):
            return ()
        first = self.words[begin]
        other = any(self._bare_answer(at) for at in range(begin + 1, self.end) if self.words[at] != first)
        yes, no = sorted(self.offered.options, key=str.casefold, reverse=True)
        return (yes, no) if other else ((yes,) if first == "yes" else (no,))

    def _bare_answer(self, at: int) -> bool:
        if self.words[at] not in ("yes", "no") or self._denied_after(at, at + 1):
            return False
        if self.words[at] == "yes" or _AFFIRMED.match(self._following(at + 1)):
            return True
        return at + 1 == self.end or self.gaps[at + 1] != "" or self.words[at + 1] in _AFTER_BARE_NO

    def letters(self, begin: int, end: int) -> tuple[str, ...]:
        """The options whose letters stand in a span as ``(B)``, ``B.``, ``option B`` or alone."""
        found: dict[str, None] = {}
        known = {chr(ord("A") + place): option for place, option in enumerate(self.offered.options[:26])}
        for at in range(begin, end):
            option = known.get(unicodedata.normalize("NFKC", self.surfaces[at]))
            if option is None or option in found or not self._is_letter_answer(at, begin, end):
                continue
            if not self._negated(at, begin, set()) and not self._denied_after(at, at + 1):
                found[option] = None
        return tuple(found)

    def _is_letter_answer(self, at: int, begin: int, end: int) -> bool:
        left, right = self.gaps[at], self.gaps[at + 1]
        if (left.endswith(("(", "[")) and right.startswith((")", "]"))) or (
            at > 0 and self.words[at - 1] in ("option", "choice")
        ):
            return True
        if self._is_affirmed_letter(at, begin):
            return True
        first = self._first_hedge(at, begin)
        if first != begin and "\n" not in left:
            cued = self.words[first - 1] in _LETTER_CUES or self.surfaces[first - 1].endswith("'s")
            return cued and not self.gaps[first] and not left and (end == at + 1 or right != "")
        alone = end == at + 1 or bool(_LETTER_END.search(right))
        return alone or (begin > 0 and first == begin and (right != "" or self.surfaces[at] not in "AI"))

    def _is_affirmed_letter(self, at: int, begin: int) -> bool:
        """Whether a sentence says of a letter that it is the one: "B is the answer", "B, because ..."; A and I are words too."""
        opens = at == begin or self.gaps[at] != ""
        if opens and at + 1 < self.end and self.words[at + 1] in _REASONS and self.gaps[at + 1] in ("", ","):
            return True
        return (opens or self.surfaces[at] not in "AI") and _AFFIRMED.match(self._following(at + 1)) is not None


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
    field, heading, start = read.field(begin), read.heading(begin), read.past_hedges(begin)
    for end in (read.end, field, heading):
        if end is not None and (found := read.exact(begin, end) or read.exact(start, end)):
            return found, "exact"
    if letters:
        for end in (field, heading, read.end):
            if end is not None and (found := read.letters(begin, end)):
                named = [option for mention in read.mentions(begin) if mention.end <= end for option in mention.options]
                return tuple(dict.fromkeys((*found, *named))), "letter"
    if read.offered.yes_no and (found := read.yes_or_no(start)):
        return found, "lead"
    mentioned = [option for mention in read.choices(begin) for option in mention.options]
    return tuple(dict.fromkeys(mentioned)), "mention"


def choose_labels(
    answer: str, options: Sequence[str], *, aliases: Mapping[str, Sequence[str]] | None = None
) -> tuple[tuple[str, ...], str]:
    """Reads which options an answer lists, in the order named.

    A JSON or Python list is read first, then an enumeration of nothing but options, then every option that is mentioned and
    not negated. What is no option is left out, and so is a list that only repeats the question.

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
    read = _Answer(text, offered)
    if found := _listed(text, offered, read):
        return found, "ok"
    for begin in read.spans():
        if found := _enumerated(read, begin):
            return found, "ok"
        named = [m.options[0] for m in read.choices(begin, several=True) if len(m.options) == 1]
        if named:
            return tuple(dict.fromkeys(named)), "ok"
    return (), "no_option"


def _listed(text: str, offered: _Options, read: _Answer) -> tuple[str, ...]:
    """Options of a bracketed list all of whose items are options; not of one that only repeats the question."""
    quoted: list[tuple[str, ...]] | None = None
    for group in read_groups(text, limit=_MOST_LISTS):
        found = [_Answer(item, offered).only() for item in islice(_strings(group), _LONGEST_LIST)]
        if found and None not in found:
            named = tuple(option for option in found if option is not None)
            quoted = read.quoted() if quoted is None else quoted
            if named not in quoted:
                return tuple(dict.fromkeys(named))
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
