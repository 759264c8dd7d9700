"""The judge: asks for what is not known yet, keeps every reply, and reads verdicts out of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsb2_tasks.endpoint import EndpointError, Failed, Usage
from dsb2_tasks.judge._clients import Client, Prompt
from dsb2_tasks.judge._contracts import CHOICE_KINDS, contract_for, family
from dsb2_tasks.judge._reply import MOST_REPLY
from dsb2_tasks.judge._types import Contract, JudgeError, JudgeItem, Verdict
from dsb2_tasks.models import Answer, ResponseStore, response_key

#: Rule of thumb for tokens that are not counted yet.
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Prices:
    """Price of a million tokens, in any currency.

    Attributes:
        prompt: Of prompts.
        completion: Of replies.
    """

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Price of so many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True)
class Estimate:
    """What a judge would cost.

    Attributes:
        calls: Requests to be made: distinct prompts without a stored reply.
        cached: Distinct prompts with a stored reply; they cost nothing.
        prompt_tokens: Characters of the prompts / 4, a rule of thumb for English.
        completion_tokens: At most: every reply as long as it may get.  Most are a fifth of that.
        cost: Price of both, where prices are known.
    """

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


@dataclass
class _Question:
    """A distinct prompt, and the numbers of the items that it is about."""

    contract: Contract
    prompt: Prompt
    items: list[int] = field(default_factory=list)

    def read(self, answer: Answer, items: Sequence[JudgeItem | None]) -> dict[int, Verdict]:
        return {i: self.contract.read(answer.text, answer.capped, item) for i in self.items if (item := items[i]) is not None}


def _questions(items: Sequence[JudgeItem | None], contract: str) -> tuple[list[_Question], dict[int, Verdict]]:
    """What is to be asked about items, and verdicts that follow without asking: an empty answer is none, whoever judges."""
    questions: dict[tuple[str, str], _Question] = {}
    verdicts: dict[int, Verdict] = {}
    for i, item in enumerate(items):
        if item is None:
            continue
        rules = contract_for(item.kind, contract)
        if not item.answer:
            verdicts[i] = Verdict(
                "rejected" if item.kind in CHOICE_KINDS else "na", None, "the answer is empty; nobody was asked"
            )
            continue
        text = rules.prompt(item)
        question = questions.setdefault((rules.name, text), _Question(rules, Prompt(text, rules.most_tokens(item.kind))))
        question.items.append(i)
    return list(questions.values()), verdicts


def _estimate(asked: Sequence[_Question], cached: int, prices: Prices | None) -> Estimate:
    prompt = sum(math.ceil(len(question.prompt.text) / CHARACTERS_PER_TOKEN) for question in asked)
    completion = sum(question.prompt.most_tokens for question in asked)
    return Estimate(len(asked), cached, prompt, completion, prices.of(prompt, completion) if prices else None)


def estimate(items: Iterable[JudgeItem | None], contract: str = "default") -> Estimate:
    """What judging would take with no verdict stored yet; :meth:`Judge.estimate` knows those that are.

    Args:
        items: Answers; None where there is nothing to judge.
        contract: ``default`` or ``authors``.

    Raises:
        JudgeError: There is no such contract.
    """
    return _estimate(_questions(list(items), contract)[0], 0, None)


class Judge:
    """A model that judges answers under one contract.

    Every reply is stored the moment it comes, under the sha256 of all that it hangs on: the judge's identity, the contract's name
    and version, and the prompt in full, which holds instruction, answer and, unless hidden, the reference.  So a second pass
    costs nothing and one that died goes on.  A failure of the tool is never stored.
    """

    def __init__(
        self,
        client: Client,
        store: str | Path,
        contract: str = "default",
        *,
        prices: Prices | None = None,
        retry_unusable: bool = False,
    ) -> None:
        """Reads the stored replies; asks nobody.

        Args:
            client: Whom to ask.
            store: Folder for the replies of all judges; each has a folder in it.
            contract: ``default`` or ``authors``.
            prices: Prices of tokens.
            retry_unusable: Whether to ask again where the stored reply is no verdict; the last reply counts.

        Raises:
            JudgeError: There is no such contract.
        """
        self._rules = family(contract)
        self.contract = contract
        self._client = client
        self._store = ResponseStore(store, client.identity)
        self._prices = prices
        self._retry_unusable = retry_unusable

    @property
    def identity(self) -> dict[str, Any]:
        """Who judges by what rules, for results files; holds no secrets."""
        versions = {rules.name: rules.version for rules in self._rules}
        return {**self._client.identity, "contract": self.contract, "versions": versions}

    @property
    def usage(self) -> Usage:
        """What was asked since this judge was opened; tokens as the server counts them, 0 for lm-eval backends."""
        return self._client.usage

    @property
    def cost(self) -> float | None:
        """Price of :attr:`usage`; None without prices."""
        return self._prices.of(self.usage.prompt_tokens, self.usage.completion_tokens) if self._prices else None

    @property
    def folder(self) -> Path:
        """Where the replies are."""
        return self._store.folder

    def estimate(self, items: Iterable[JudgeItem | None]) -> Estimate:
        """What :meth:`verdicts` would ask for the same items; asks nobody."""
        items = list(items)
        questions, _ = _questions(items, self.contract)
        open_ = [question for question in questions if self._stored(question, items)[0] is None]
        return _estimate(open_, len(questions) - len(open_), self._prices)

    def verdicts(self, items: Iterable[JudgeItem | None]) -> list[Verdict | None]:
        """Judges answers.

        Args:
            items: Answers; None where there is nothing to judge (a failure of the tool).

        Returns:
            A verdict for each, in order; None for None.  ``failed`` where no reply came; the next pass asks again.

        Raises:
            JudgeError: Nothing more can be had from the judge.  What it said until then is stored.
        """
        items = list(items)
        questions, verdicts = _questions(items, self.contract)
        asked: list[tuple[_Question, str]] = []
        for question in questions:
            answer, key = self._stored(question, items)
            if answer is None:
                asked.append((question, key))
            else:
                verdicts |= question.read(answer, items)
        if asked:
            verdicts |= self._ask(asked, items)
        return [None if item is None else verdicts[i] for i, item in enumerate(items)]

    def _stored(self, question: _Question, items: Sequence[JudgeItem | None]) -> tuple[Answer | None, str]:
        """The last stored reply, or None if it is to be asked for; and the key that the next one gets."""
        answer = None
        for attempt in itertools.count():
            settings = {"max_tokens": question.prompt.most_tokens, "attempt": attempt}
            rules = {"contract": question.contract.name, "version": question.contract.version}
            key = response_key(self._client.identity, question.prompt.text, settings, [], rules)
            found = self._store.get(key)
            if found is None:
                break
            answer = found
        if answer is not None and self._retry_unusable and not all(v.usable for v in question.read(answer, items).values()):
            answer = None
        return answer, key

    def _ask(self, asked: Sequence[tuple[_Question, str]], items: Sequence[JudgeItem | None]) -> dict[int, Verdict]:
        from tqdm import tqdm

        verdicts = {i: Verdict("failed", None, "no reply came") for question, _ in asked for i in question.items}
        told = 0
        try:
            with closing(self._client.ask([question.prompt for question, _ in asked])) as replies:  # type: ignore[type-var]
                for n, reply in tqdm(replies, "judge", len(asked), unit=" verdicts", disable=None):
                    question, key = asked[n]
                    if isinstance(reply, Failed):
                        verdicts |= {i: Verdict("failed", None, reply.reason) for i in question.items}
                        continue
                    cut = reply.finish_reason in ("length", "content_filter")
                    answer = Answer(reply.text[: MOST_REPLY + 1], capped=cut)
                    self._store.add([(key, answer)])
                    told += 1
                    verdicts |= question.read(answer, items)
        except (EndpointError, JudgeError) as error:
            kept = f" ({told} of {len(asked)} replies came and are stored; the next pass goes on)" if told else ""
            raise JudgeError(f"{error}{kept}") from error
        finally:
            self._store.close()
        return verdicts
