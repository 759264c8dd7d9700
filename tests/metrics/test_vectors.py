"""Known right values, one test each, through the public functions of the package.

``DSB2_VECTORS=FILE`` reads another file of the same form: a list of objects with id, metric, references, hypotheses, params,
value, note.  Values come from the fields' own libraries; "nan", "inf" and "-inf" are strings, null is N/A or undefined.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dsb2_tasks import metrics, parse, scoring
from dsb2_tasks.metrics import Row

FILE = Path(os.environ.get("DSB2_VECTORS") or Path(__file__).with_name("metric_vectors.json"))
VECTORS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))

#: Metrics of generated audio that need a library of the extra ``generation``.
GENERATION = {"pesq_wb": "pesq", "pesq_nb": "pesq", "stoi": "pystoi", "estoi": "pystoi"}
#: Labels of the data set that the set vectors are about.
DCASE2016 = [
    "clearthroat",
    "cough",
    "doorslam",
    "drawer",
    "keyboard",
    "keysDrop",
    "knock",
    "laughter",
    "pageturn",
    "phone",
    "speech",
]

Vector = dict[str, Any]


def corpus(name: str, rows: list[Row | None], vector: Vector) -> float:
    """The value of rows that went through JSON, as those of a results file do; stored statistics must be their sum."""
    rows = json.loads(json.dumps(rows))
    stats = vector["params"].get("stats")
    if isinstance(stats, list):
        assert np.allclose(np.sum(rows, axis=0), stats), (rows, stats)
    return metrics.get(name).aggregate(rows)


def pairwise(row: Callable[[Any, Any, Vector], Row | None], name: str | None = None) -> Callable[[Vector], float]:
    """A vector whose two lists hold one entry a sample."""

    def run(vector: Vector) -> float:
        pairs = zip(vector["references"], vector["hypotheses"], strict=True)
        return corpus(name or vector["metric"], [row(ref, hyp, vector["params"]) for ref, hyp in pairs], vector)

    return run


def single(row: Callable[[Any, Any, Vector], Row | None]) -> Callable[[Vector], float]:
    """A vector that is one sample."""
    return lambda v: corpus(v["metric"], [row(v["references"], v["hypotheses"], v["params"])], v)


def one_or_many(row: Callable[[Any, Any, Vector], Row | None]) -> Callable[[Vector], float]:
    """A vector of spans of one file, or of a list of files."""

    def run(vector: Vector) -> float:
        files = all(isinstance(part, list) for entry in vector["references"] for part in entry)
        return (pairwise(row) if files and vector["references"] else single(row))(vector)

    return run


def text(answer: str, params: Vector) -> str:
    if params.get("extract"):
        answer = parse.extract_transcript(answer)[0] or ""
    arabic = params["normalizer"] == "norm_multi" and params.get("lang") == "ar"
    name = "norm_ar" if arabic else params["normalizer"]
    if name == "norm_zh" and params.get("opencc", "t2s") is None:
        return "".join(metrics.normalize("norm_multi", answer).split())
    result = metrics.normalize(name, answer)
    if "normalised" in params:
        assert result in params["normalised"]
    return result


def wer(ref: str, hyp: str, params: Vector) -> Row:
    return metrics.error_rate_row(metrics.words(text(ref, params)), metrics.words(text(hyp, params)))


def cer(ref: str, hyp: str, params: Vector) -> Row:
    return metrics.error_rate_row(metrics.characters(text(ref, params)), metrics.characters(text(hyp, params)))


def mer(ref: str, hyp: str, params: Vector) -> Row:
    name = "norm_mixed" if params.get("opencc", "t2s") else "norm_multi"
    return metrics.error_rate_row(*(metrics.mixed(metrics.normalize(name, side)) for side in (ref, hyp)))


def per(ref: str, hyp: str, params: Vector) -> Row:
    strip = {"both": True, "none": False}[params["strip_stress"]]
    return metrics.error_rate_row(metrics.phones(ref, strip), metrics.phones(hyp, strip))


def tags(ref: str, hyp: str, _: Vector) -> Row:
    return metrics.error_rate_row(*((parse.parse_tags(side)[0] or ((), ""))[0] for side in (ref, hyp)))


def sentence(ref: str, hyp: str, _: Vector) -> Row:
    sides = ((parse.parse_tags(side)[0] or ((), ""))[1] for side in (ref, hyp))
    return metrics.error_rate_row(*(metrics.words(metrics.normalize("whisper_en", side)) for side in sides))


def slots(side: str) -> list[tuple[str, str]]:
    return parse.parse_slots(side)[0] or []


def events(row: Callable[..., Row]) -> Callable[[Any, Any, Vector], Row]:
    def run(ref: Any, hyp: Any, params: Vector) -> Row:
        share = (params.get("offset_pct") or 0.2) if params.get("use_offset") else None
        return row(ref, hyp, onset_collar=params["onset_collar"], offset_share=share)

    return run


def segments(row: Callable[..., Row]) -> Callable[[Any, Any, Vector], Row]:
    return lambda ref, hyp, params: row(ref, hyp, params["duration"], params["resolution"])


def turns(ref: Any, hyp: Any, params: Vector, uem: list[float]) -> Row:
    row = metrics.der_row(ref, hyp, uem[1], params.get("collar", 0.0), params.get("skip_overlap", False))
    if "stats" in params:
        stats = params["stats"]
        assert row == pytest.approx([stats[k] for k in ("missed detection", "false alarm", "confusion", "total")])
    return row


def diarization(vector: Vector) -> float:
    return metrics.get("der").aggregate(
        [turns(vector["references"], vector["hypotheses"], vector["params"], vector["params"]["uem"])]
    )


def diarization_corpus(vector: Vector) -> float:
    files = zip(vector["references"], vector["hypotheses"], vector["params"]["uem"], strict=True)
    return metrics.get("der").aggregate([turns(ref, hyp, {}, uem) for ref, hyp, uem in files])


def notes(ref: Any, hyp: Any, params: Vector) -> Row:
    return metrics.note_row(ref, hyp, params.get("onset", 0.05), params.get("offset_ratio"))


def frames(recipe: str) -> list[float]:
    """Frequencies of "50 frames 222 Hz, 20 frames unvoiced"."""
    parts = re.findall(r"(\d+) frames (?:of )?(?:([\d.]+) Hz|unvoiced)", recipe)
    return [float(hertz or 0) for count, hertz in parts for _ in range(int(count))]


def number(vector: Vector) -> Any:
    params = dict(vector["params"])
    return parse.extract_number(vector["hypotheses"], **params)[0]


def option(vector: Vector) -> Any:
    params = dict(vector["params"])
    if params.pop("multi", False):
        return list(parse.choose_labels(vector["hypotheses"], vector["references"], **params)[0]) or None
    return parse.choose_option(vector["hypotheses"], vector["references"], **params)[0]


def bootstrap(vector: Vector) -> Any:
    interval = scoring.bootstrap(
        metrics.get("wer"), vector["references"], draws=vector["params"]["B"], seed=vector["params"]["seed"]
    )
    return {"point": interval.value, "se": interval.stderr, "ci95": [interval.low, interval.high]}


def domain(vector: Vector) -> float:
    score = scoring.domain_score({str(i): plain(v) for i, v in enumerate(vector["hypotheses"])}, tuple(vector["params"]["clip"]))
    assert (len(score.kept), len(score.left_out)) == (vector["params"]["n_used"], vector["params"]["n_excluded"])
    return score.clipped_mean


def improvement(rule: Callable[..., float]) -> Callable[[Vector], float]:
    return lambda v: rule(measured(v["hypotheses"]), measured(v["references"]), v["params"]["higher_is_better"])


def signals() -> dict[str, np.ndarray]:
    """The signals that vectors of generated audio describe in words: two talkers, noise, and what is made of them."""
    t = np.arange(48000) / 16000

    def wave(hertz: float, beat: float, phase: float = 0.0) -> np.ndarray:
        return np.sin(2 * np.pi * hertz * t) * (0.5 + 0.5 * np.sin(2 * np.pi * beat * t + phase))

    x, x2 = np.float32(0.3 * (wave(220, 3) + 0.3 * wave(660, 5, 1))), 0.3 * wave(150, 2)
    noise = np.float32(np.random.default_rng(0).standard_normal(48000)) * 0.05
    return {"x": x, "y": x + noise, "noise": noise, "x2": x2, "mix": x + x2, "s1": x, "s2": x2}


def signal(recipe: str) -> np.ndarray:
    """A formula such as "3*y", "e1=x2+0.1x" or "[1,-1]+[0.1,0.1]" over :func:`signals`."""
    formula = recipe.rpartition("=")[2]
    formula = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)(?=[a-z])", r"\1*", formula)
    return eval(re.sub(r"(\[[^\[\]]*\])", r"array(\1)", formula), {"__builtins__": {}, "array": np.array}, signals())


def enhanced(measure: Callable[..., float | None]) -> Callable[[Vector], Any]:
    """One reference, ``x`` where it is a recipe, and one estimate."""

    def run(vector: Vector) -> Any:
        reference = vector["references"]
        return measure(signal("x" if reference.startswith("fs=") else reference), signal(vector["hypotheses"]))

    return run


def separated(vector: Vector) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Two talkers and the estimates of them; those of the separation vectors unless others are stated."""
    text = vector["hypotheses"] or vector["references"].partition("estimates = ")[2].strip("[]")
    if text.startswith("as "):
        text = "e1=x2+0.1x, e2=x+0.1x2"
    return [signal("x"), signal("x2")], [signal(part) for part in text.split(",")]


def improved(vector: Vector) -> float | None:
    references, estimates = separated(vector)
    separation = metrics.si_sdr_separation(references, estimates)
    if "permutation" in vector["params"]:
        assert list(separation.permutation) == vector["params"]["permutation"]
        assert np.mean(separation.decibels) == pytest.approx(vector["params"]["si_sdr"], abs=1e-6)
    return metrics.si_sdri(references, estimates, signal("mix"))


def bsseval(vector: Vector) -> dict[str, list[float]]:
    separation = metrics.sdr_bsseval(*separated(vector))
    return {"sdr": list(separation.decibels), "perm": list(separation.permutation)}


def distortion(vector: Vector) -> float:
    return metrics.mcd(*(json.loads(vector[side].rpartition("=")[2]) for side in ("references", "hypotheses")))


REGRESSION = ("mse", "mae", "rmse", "pcc", "srcc", "kendall", "ccc", "angular_mae", "mape")
MULTILABEL = ("multilabel_exact", "multilabel_micro_f1", "multilabel_sample_f1", "multilabel_jaccard")

#: Metric of a vector -> how it is put to public functions.
RUN: dict[str, Callable[[Vector], Any]] = {
    "wer": pairwise(wer),
    "wer_capped": pairwise(lambda r, h, p: metrics.capped_row(wer(r, h, p))),
    "wer_sentence_mean": lambda v: float(
        np.mean(
            [
                metrics.get("wer").aggregate([wer(r, h, v["params"])])
                for r, h in zip(v["references"], v["hypotheses"], strict=True)
            ]
        )
    ),
    "cer": pairwise(cer),
    "mer_mixed": pairwise(mer),
    "per": pairwise(per),
    "slot_type_f1": pairwise(lambda r, h, _: metrics.slot_type_row(slots(r), slots(h))),
    "slot_value_cer": pairwise(lambda r, h, _: metrics.slot_value_row(slots(r), slots(h))),
    "ner_f1": pairwise(lambda r, h, _: metrics.entity_row(r, h)),
    "ner_label_f1": pairwise(lambda r, h, _: metrics.entity_label_row(r, h)),
    "nel_frame_f1": one_or_many(lambda r, h, p: metrics.frame_row(r, h, p["resolution"])),
    "nel_word_f1": single(
        lambda r, h, p: metrics.word_hit_row([(start, end, word.startswith("#")) for word, start, end in r], h, p["threshold"])
    ),
    "pos_tag_error_rate": pairwise(tags),
    "pos_tag_accuracy": pairwise(tags),
    "pos_transcription_wer": pairwise(sentence),
    "pos_official_wer": pairwise(lambda r, h, _: metrics.official_tag_row(r, h)),
    "bleu": pairwise(lambda r, h, p: metrics.bleu_row(r, h, p.get("tokenize", "13a"), p.get("lowercase", False))),
    "chrf": pairwise(lambda r, h, _: metrics.chrf_row(r, h, 0)),
    "chrf++": pairwise(lambda r, h, _: metrics.chrf_row(r, h, 2)),
    "der": diarization,
    "der_corpus": diarization_corpus,
    "jer": single(lambda r, h, p: metrics.jer_row(r, h, p["uem"][1])),
    "event_f1": single(events(metrics.event_row)),
    "event_f1_macro": single(events(metrics.event_class_row)),
    "segment_f1": single(segments(metrics.segment_row)),
    "segment_er": single(segments(metrics.segment_error_row)),
    "set_exact": pairwise(
        lambda r, h, _: metrics.set_row(*(parse.choose_labels(side, DCASE2016)[0] for side in (r, h))), "multilabel_exact"
    ),
    "segment_iou": single(lambda r, h, _: metrics.overlap_row(r, h)),
    "recall_at_iou": lambda v: pairwise(
        lambda r, h, _: metrics.overlap_row(r, h), {0.5: "recall_at_iou", 0.7: "recall_at_iou_0.7"}[v["params"]["threshold"]]
    )(v),
    "note_f1": single(notes),
    "note_f1_offset": single(notes),
    "beat_f": single(lambda r, h, p: metrics.beat_row(r, h, p.get("tolerance", 0.07), p.get("trim", 0.0))),
    "key_weighted": single(lambda r, h, _: metrics.key_row(r, h)),
    "chord_majmin": single(lambda r, h, _: metrics.chord_row(r, h)),
    "melody": lambda v: metrics.melody_scores(frames(v["references"]), frames(v["hypotheses"])),
    "pitch_seq_error_rate": single(
        lambda r, h, _: metrics.error_rate_row(*(parse.parse_pitches(side)[0] or () for side in (r, h)))
    ),
    "pitch_acc": pairwise(lambda r, h, _: metrics.pitch_row(r, h)),
    "chroma_acc": pairwise(lambda r, h, _: metrics.chroma_row(r, h)),
    **dict.fromkeys(REGRESSION, pairwise(lambda r, h, _: metrics.number_row(r, h))),
    "mmau_string_match": lambda v: metrics.mmau_string_match(
        v["hypotheses"], v["references"]["answer"], v["references"]["options"]
    ),
    "accuracy": pairwise(lambda r, h, _: metrics.accuracy_row(r, h)),
    "macro_f1": pairwise(lambda r, h, _: metrics.class_row(r, h)),
    "balanced_accuracy": pairwise(lambda r, h, _: metrics.class_row(r, h)),
    **dict.fromkeys(MULTILABEL, pairwise(lambda r, h, _: metrics.set_row(r, h))),
    "phase1_exact": pairwise(lambda r, h, _: metrics.phase1_row(r, h)),
    "text_accuracy": pairwise(lambda r, h, _: metrics.text_row(r, h)),
    "na_scale": lambda v: scoring.na_scale(
        measured(v["hypotheses"]), v["params"]["na_rate"], v["params"]["higher_is_better"], v["params"]["worst"]
    ),
    "relative_improvement": improvement(scoring.relative_improvement),
    "relative_improvement_bounded": improvement(scoring.relative_improvement_bounded),
    "domain_score": domain,
    "pcc_from_sums": lambda v: float(metrics.pearson_from_sums(v["params"]["stats"])),
    "bootstrap_ratio": bootstrap,
    "ratio_delta_se": lambda v: metrics.get("wer").stderr(v["references"]),
    "pesq_wb": enhanced(metrics.pesq_wb),
    "pesq_nb": enhanced(metrics.pesq_nb),
    "stoi": enhanced(metrics.stoi),
    "estoi": enhanced(metrics.estoi),
    "si_sdr": enhanced(metrics.si_sdr),
    "si_sdri": improved,
    "sdr_bsseval": bsseval,
    "mcd": distortion,
    "choose_option": option,
    "extract_number": number,
    "parse_spans": lambda v: parse.parse_spans(v["hypotheses"])[0],
    "extract_transcript": lambda v: parse.extract_transcript(v["hypotheses"])[0],
}


def plain(value: Any) -> Any:
    """The float that "nan", "inf" and "-inf" stand for; anything else as it is."""
    return float(value) if isinstance(value, str) and value in ("nan", "inf", "-inf") else value


def measured(value: Any) -> float:
    """A value of a metric, nan where there is none."""
    return math.nan if value is None else float(value)


def agree(got: Any, expected: Any, tolerance: float) -> bool:
    expected = plain(expected)
    if isinstance(expected, dict):
        return set(got) >= set(expected) and all(agree(got[key], part, tolerance) for key, part in expected.items())
    if isinstance(expected, list):
        return (
            got is not None
            and len(got) == len(expected)
            and all(agree(*pair, tolerance) for pair in zip(got, expected, strict=True))
        )
    if expected is None or (isinstance(expected, float) and math.isnan(expected)):
        return got is None or (isinstance(got, float) and math.isnan(got))
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return got == pytest.approx(expected, abs=tolerance)
    return got == expected


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector: Vector) -> None:
    name = vector["metric"]
    if name in GENERATION:
        pytest.importorskip(GENERATION[name], reason="extra generation")
    assert name in RUN, f"no function is known for the metric {name!r} of {FILE}"
    stated = re.search(r"tolerance ([\d.e-]+\d)", vector["note"])
    tolerance = float(stated.group(1)) if stated else 1e-6
    got = RUN[name](vector)
    assert agree(got, vector["value"], tolerance), f"{got!r} is not {vector['value']!r} ({vector['engine']}; {vector['note']})"


def test_every_registered_metric_of_the_vectors_has_its_name() -> None:
    functions = {"wer_sentence_mean", "der_corpus", "set_exact", "melody", "na_scale", "relative_improvement", "domain_score"}
    functions |= {"relative_improvement_bounded", "pcc_from_sums", "bootstrap_ratio", "ratio_delta_se", "choose_option"}
    functions |= {"extract_number", "parse_spans", "extract_transcript"}
    assert set(RUN) - functions <= set(metrics.names())


def test_vectors_are_not_empty_and_ids_are_unique() -> None:
    ids = [vector["id"] for vector in VECTORS]
    assert len(ids) == len(set(ids)) > 0
