"""Runs of simulated systems on the sample data, written as lm-eval writes them."""

from __future__ import annotations

import hashlib
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog, hooks, metrics
from dsb2_tasks.results import as_json
from dsb2_tasks.sources import Docs, open_rows
from dsb2_tasks.spec import TaskSpec

DATE = "2026-01-02T03-04-05.678901"
KNOWN = catalog.read_catalog([catalog.yaml_root()])
UNUSABLE = "I am not able to tell."

#: One or more of every way to count: N/A and wrong, higher and lower, correlation, several clips, spatial.
TASKS = [
    "dsb2_superb_asr_librispeech",
    "dsb2_multilingual_asr_mls_de",
    "dsb2_speech_command_recognition_audiomnist",
    "dsb2_phone_segment_counting_voxangeles",
    "dsb2_superb_qbe_quesst14",
    "dsb2_domestic_sound_event_desed",
    "dsb2_sound_position_prediction",
    "dsb2_singing_mos_prediction_singmos",
    "dsb2_animal_classification_wavesource",
    "dsb2_multichannel_sound_event_starss23",
    "dsb2_audio_segment_retrieval_clotho",
]
ASR = "dsb2_superb_asr_librispeech"
EVIL = {
    0: "<script>document.title = 'owned'</script>",
    1: '"><img src=x onerror="document.title=1">',
    2: "</textarea></pre></style></script><h1>big</h1> javascript:alert(1) {{ 7 * 7 }}",
    3: "over \u202eright to left\u202c and \x00 nul \ud800 half \u2066isolate",
    4: "long " * 200_000,
}


@cache
def documents(task: str) -> tuple[TaskSpec, tuple[dict[str, Any], ...]]:
    entry = KNOWN.tasks[task]
    docs = Docs(task, entry.spec, [open_rows(s, "samples", entry.path.parent, task) for s in entry.spec.data])
    texts = [docs.text(i) for i in range(len(docs))]
    return hooks.close_options(entry.spec, texts), tuple(docs)


@cache
def _counted(task: str, doc: int, answer: str) -> tuple[dict[str, Any], str]:
    """Rows of all metrics, as the task counts them, and the status."""
    spec, docs = documents(task)
    kind = hooks.KINDS[spec.kind]
    scored = kind.score(answer, docs[doc], spec)
    rows: dict[str, Any] = dict(scored.statistics)
    if kind.na:
        missing = float(rows[spec.metric] is None)
        rows[f"{spec.metric}_scaled"] = (missing, *(rows[spec.metric] or ()))
        rows["na_rate"] = (missing, scored.status)
    elif kind.parsed:
        rows["unparsed_rate"] = (float(scored.status != "ok"), scored.status)
    rows["audio_error_rate"] = (0.0, "ok")
    return rows, scored.status


def write_run(
    folder: Path,
    name: str,
    *,
    right: float,
    tasks: list[str] | None = None,
    copies: int = 1,
    answers: dict[tuple[str, int], str] | None = None,
    version: str = "1-samples",
    seed: int = 0,
) -> Path:
    """Writes a run of a system that is right with a probability, else answers another document or nothing usable.

    Args:
        folder: Where to.
        name: Of the model.
        right: Probability of the reference answer.
        tasks: All 180 by default.
        copies: How often every document is asked.
        answers: Answers that are given whatever the probability, by task and document.
        version: Of all tasks.
        seed: Of what is answered.
    """
    place = folder / name
    place.mkdir(parents=True)
    found: dict[str, Any] = {
        k: {} for k in ("results", "groups", "group_subtasks", "configs", "versions", "higher_is_better", "n-samples")
    }
    for task in tasks or KNOWN.tasks_of("dsb2-phase2", None):
        spec, docs = documents(task)
        kind = hooks.KINDS[spec.kind]
        draw = random.Random(f"{name} {task} {seed}")
        references = [kind.reference_answer(doc, spec) for doc in docs]
        rows: dict[str, list[Any]] = {}
        lines = []
        for number in range(len(docs) * copies):
            doc = number % len(docs)
            chance = draw.random()
            wrong = draw.choice(references) if draw.random() < 0.6 else UNUSABLE
            answer = (answers or {}).get((task, number), references[doc] if chance < right else wrong)
            counted, _ = _counted(task, doc, answer)
            for metric, row in counted.items():
                rows.setdefault(metric, []).append(row)
            lines.append(_line(docs[doc], number, references[doc], answer, counted))
        measured = {metric: metrics.get(metric) for metric in rows}
        found["results"][task] = {"name": task, "alias": task, "sample_len": len(lines)} | {
            key: value
            for metric, own in rows.items()
            for key, value in (
                (f"{metric},none", as_json(measured[metric].aggregate(own))),
                (f"{metric}_stderr,none", as_json(measured[metric].stderr(own))),
            )
        }
        found["versions"][task] = version
        found["higher_is_better"][task] = {metric: m.higher_is_better for metric, m in measured.items()}
        found["n-samples"][task] = {"original": len(lines), "effective": len(lines)}
        block = KNOWN.tasks[task].spec.model_dump(mode="json", exclude_defaults=True)
        found["configs"][task] = {
            "task": task,
            "metadata": {"version": 1, "data": "samples", "dsb2": {**block, "read_from": "samples"}},
        }
        (place / f"samples_{task}_{DATE}.jsonl").write_text("".join(lines), encoding="utf-8")
    found |= {
        "config": {
            "model": "hf-audio",
            "model_args": {"pretrained": name},
            "limit": None,
            "dsb2_model": {"pretrained": name, "audio_events": {"resampled": 31, "truncated": 2}, "failures": {}},
        },
        "model_name": name,
        "model_source": "hf-audio",
        "date": 1767322800.0,
        "lm_eval_version": "0.4.13",
        "group_subtasks": {"dsb2_all": list(found["results"])},
    }
    (place / f"results_{DATE}.json").write_text(json.dumps(found), encoding="utf-8")
    return place


def _line(doc: dict[str, Any], number: int, target: str, answer: str, rows: dict[str, Any]) -> str:
    record = {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": doc["dsb2_prompt"], "arg_1": {}, "arg_2": {"audio": doc["audio"]}}},
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": "none",
        "metrics": list(rows),
        "doc_hash": hashlib.sha256(json.dumps(doc, sort_keys=True).encode()).hexdigest(),
        **rows,
    }
    return json.dumps(record) + "\n"
