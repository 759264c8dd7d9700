"""All contracts by name, and which one an output kind takes."""

from __future__ import annotations

from dsb2_tasks.judge._choice import choice_prompt, read_first, read_last
from dsb2_tasks.judge._extract import FORMS, extract_authors_prompt, extract_prompt, read_bare, read_result
from dsb2_tasks.judge._types import Contract, JudgeError

#: Output kinds whose answer is accepted or rejected.
CHOICE_KINDS = ("choice", "labels", "text")
#: Output kinds whose value is extracted and then counted by the task's own metric.
EXTRACT_KINDS = ("number", *FORMS)


def _most_tokens(kind: str) -> int:
    return 2048 if kind in FORMS else 512  # a list of notes or turns does not fit into a verdict's 512


CONTRACTS: dict[str, Contract] = {
    contract.name: contract
    for contract in (
        Contract(
            "choice", 1, "accept or reject; the last line is the verdict, anything else is unusable",
            choice_prompt, read_last, _most_tokens,
        ),
        Contract(
            "extract", 1, "the value or N/A, the reference hidden; the last line is the result, anything else is unusable",
            extract_prompt, read_result, _most_tokens,
        ),
        Contract(
            "choice_authors", 1, "accept or reject; the first 'result: yes|no' counts, a reply without one is a no",
            choice_prompt, read_first, _most_tokens,
        ),
        Contract(
            "extract_authors", 1, "the value or N/A, the reference shown; the whole reply is the value",
            extract_authors_prompt, read_bare, _most_tokens,
        ),
    )
}  # fmt: skip

#: Contracts of a judge by the name it is opened with: for kinds that are accepted or rejected, and for those that are extracted.
FAMILIES: dict[str, tuple[Contract, Contract]] = {
    "default": (CONTRACTS["choice"], CONTRACTS["extract"]),
    "authors": (CONTRACTS["choice_authors"], CONTRACTS["extract_authors"]),
}


def family(name: str) -> tuple[Contract, Contract]:
    """The contracts of a family.

    Raises:
        JudgeError: There is none of that name.
    """
    if name not in FAMILIES:
        raise JudgeError(f"contract {name!r} is none of {', '.join(FAMILIES)}")
    return FAMILIES[name]


def contract_for(kind: str, name: str = "default") -> Contract:
    """The contract by which answers of an output kind are judged.

    Args:
        kind: Output kind of the task.
        name: ``default`` or ``authors``.

    Raises:
        JudgeError: There is none of that name, or the kind is not judged.
    """
    choice, extract = family(name)
    if kind in CHOICE_KINDS:
        return choice
    if kind in EXTRACT_KINDS:
        return extract
    raise JudgeError(
        f"kind {kind!r} is not judged: its metric is computed on the answer as it is "
        f"(judged are {', '.join((*CHOICE_KINDS, *EXTRACT_KINDS))})"
    )
