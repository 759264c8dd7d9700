"""An LLM as a second reader of answers, under a name of its own beside the deterministic metrics.

A contract owns prompt and parser together.  ``choice`` (kinds choice, labels, text) has the judge accept or reject an answer;
``extract`` (numbers and answers with a structure) has it write down what the answer states, which the task's own metric then
counts.  Each has a form ``_authors`` for comparison with numbers of Dynamic-SUPERB Phase-2 (arXiv 2411.05361).

What is known of the authors' judge: GPT-4o at temperature 0 (their tool defaults to Llama-3.1-8B-Instruct, greedy, 512 new
tokens).  It reads instruction, label and answer, explains itself briefly, and its last line says yes or no.  One clear answer or
it is wrong; a set must match exactly; same meaning is enough; the first ``result: yes|no`` of the lower-cased verdict counts, and
none is wrong.  For numbers it reads instruction, label and answer and replies with a bare number; ambiguous answers, several
values and a repeated range are N/A; "no switches at all" is 0, and "90 %" on a scale to 10 is 9.

Our reading: the wording of all prompts, which put in texts as JSON data; that answers with a structure are extracted like
numbers; that an empty reply is unusable in the authors' form too; that an empty answer is rejected (or N/A) without asking.


    judge = open_judge("openai:gpt-4o", store="verdicts")
    items = [item_for(spec, doc, answer) for doc, answer in answers]
    judge.estimate(items)                   # before spending
    verdicts = judge.verdicts(items)        # stored as they come; a second pass is free
    rows = [judged_rows(spec, doc, verdict) for (doc, _), verdict in zip(answers, verdicts)]
    coverage(verdicts).share                # how many had a usable verdict
"""

from dsb2_tasks.judge._agreement import Confusion, Coverage, agreement, coverage
from dsb2_tasks.judge._contracts import CHOICE_KINDS, CONTRACTS, EXTRACT_KINDS, contract_for
from dsb2_tasks.judge._items import item_for, judged_rows
from dsb2_tasks.judge._judge import Estimate, Judge, Prices, estimate
from dsb2_tasks.judge._open import open_judge
from dsb2_tasks.judge._types import Contract, JudgeError, JudgeItem, Verdict

__all__ = [
    "CHOICE_KINDS",
    "CONTRACTS",
    "EXTRACT_KINDS",
    "Confusion",
    "Contract",
    "Coverage",
    "Estimate",
    "Judge",
    "JudgeError",
    "JudgeItem",
    "Prices",
    "Verdict",
    "agreement",
    "contract_for",
    "coverage",
    "estimate",
    "item_for",
    "judged_rows",
    "open_judge",
]
