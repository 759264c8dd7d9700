"""On random data our numbers are those of the libraries that each field uses."""

from __future__ import annotations

import itertools
import math
import random
import warnings

import jiwer
import numpy as np
import pytest
import sacrebleu
import scipy.stats
from sklearn import metrics as sk

from dsb2_tasks import metrics

RANDOM_WORDS = [
    "the",
    "a",
    "of",
    "on",
    "in",
    "speech",
    "model",
    "is",
    "not",
    "clean",
    "Haus",
    "straße",
    "été",
    "好",
    "—",
    "it's",
    "and,",
    "Text.",
]


def _sentences(seed: int, count: int, longest: int = 12) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice(RANDOM_WORDS) for _ in range(rng.randint(1, longest))) for _ in range(count)]


def test_wer_and_cer_are_jiwer() -> None:
    references, hypotheses = _sentences(1, 300), _sentences(2, 300)
    wer = [metrics.error_rate_row(metrics.words(r), metrics.words(h)) for r, h in zip(references, hypotheses, strict=True)]
    cer = [
        metrics.error_rate_row(metrics.characters(r), metrics.characters(h)) for r, h in zip(references, hypotheses, strict=True)
    ]
    assert metrics.get("wer").aggregate(wer) == pytest.approx(jiwer.wer(references, hypotheses), abs=1e-12)
    assert metrics.get("cer").aggregate(cer) == pytest.approx(jiwer.cer(references, hypotheses), abs=1e-12)
    one = jiwer.process_words(references[0], hypotheses[0])
    assert wer[0][0] == one.substitutions + one.deletions + one.insertions


@pytest.mark.parametrize("tokenize", ["13a", "zh"])
@pytest.mark.parametrize("count", [1, 2, 80])
@pytest.mark.parametrize("longest", [2, 15])
def test_bleu_is_sacrebleu(tokenize: str, count: int, longest: int) -> None:
    references = _sentences(3, count, longest)
    rng = random.Random(4)
    hypotheses = [" ".join(w for w in r.split() if rng.random() > 0.2) for r in references]
    expected = sacrebleu.BLEU(tokenize=tokenize).corpus_score(hypotheses, [references]).score
    rows = [metrics.bleu_row(r, h, tokenize) for r, h in zip(references, hypotheses, strict=True)]
    assert metrics.get("bleu").aggregate(rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("name", "order"), [("chrf", 0), ("chrf++", 2)])
@pytest.mark.parametrize("hypotheses", [_sentences(6, 80), [""] * 80, ["x"] * 80, ["(hi) 'a' ..."] * 80])
def test_chrf_is_sacrebleu(name: str, order: int, hypotheses: list[str]) -> None:
    references = [*_sentences(5, 78), "(a) b!", "x"]
    expected = sacrebleu.CHRF(word_order=order).corpus_score(hypotheses, [references]).score
    rows = [metrics.chrf_row(r, h, order) for r, h in zip(references, hypotheses, strict=True)]
    assert metrics.get(name).aggregate(rows) == pytest.approx(expected, abs=1e-9)


def _turns(rng: random.Random, speakers: str, count: int, duration: float) -> list[tuple[float, float, str]]:
    turns = []
    for _ in range(count):
        start = round(rng.uniform(0, duration - 1), 2)
        turns.append((start, round(min(duration, start + rng.uniform(0.3, 4)), 2), rng.choice(speakers)))
    return turns


@pytest.mark.parametrize("collar", [0.0, 0.5])
def test_diarization_is_pyannote_and_mdeval(collar: float) -> None:
    from mdeval.scoring import score_speaker_diarization
    from mdeval.utils import Segment as Stretch
    from pyannote.core import Annotation, Segment, Timeline
    from pyannote.metrics.diarization import DiarizationErrorRate, JaccardErrorRate

    der, jer = DiarizationErrorRate(collar=collar), JaccardErrorRate()
    rows, jaccard = [], []
    for seed in range(40):
        rng = random.Random(seed)
        sides = [_turns(rng, "AB", 6, 20.0), _turns(rng, "123", 6, 20.0)]
        row = metrics.der_row(*sides, 20.0, collar)
        rows.append(row)
        jaccard.append(metrics.jer_row(*sides, 20.0))
        annotations = []
        for side in sides:
            annotation = Annotation()
            for number, (start, end, speaker) in enumerate(side):
                annotation[Segment(start, end), number] = speaker
            annotations.append(annotation.support())
        der(*annotations, uem=Timeline([Segment(0, 20)]))
        jer(*annotations, uem=Timeline([Segment(0, 20)]))

        merged = [
            {
                label: [
                    {"TBEG": s.start, "TEND": s.end, "TDUR": s.duration, "SPKR": label} for s in annotation.label_timeline(label)
                ]
                for label in annotation.labels()
            }
            for annotation in annotations
        ]
        stats, _ = score_speaker_diarization("f", "1", *merged, [Stretch(0.0, 20.0)], collar=collar / 2)
        nist = [stats[name] for name in ("MISSED_SPEAKER", "FALARM_SPEAKER", "SPEAKER_ERROR", "SCORED_SPEAKER")]
        assert row == pytest.approx(nist, abs=1e-6), seed
    assert metrics.get("der").aggregate(rows) == pytest.approx(abs(der), abs=1e-9)
    assert metrics.get("jer").aggregate(jaccard) == pytest.approx(abs(jer), abs=1e-9)


def test_empty_sides_of_diarization_are_as_in_pyannote() -> None:
    der = metrics.get("der")
    assert der.aggregate([metrics.der_row([], [], 10.0)]) == 0.0
    assert der.aggregate([metrics.der_row([], [(0, 1, "a")], 10.0)]) == 1.0
    assert der.aggregate([metrics.der_row([(0, 1, "a")], [], 10.0)]) == 1.0
    assert metrics.der_row([], []) == (0.0, 0.0, 0.0, 0.0)
    assert metrics.der_row([(0, 2, "a"), (1, 3, "a")], [(0, 3, "x")]) == (0.0, 0.0, 0.0, 3.0)  # one speaker's turns merge


def _notes(rng: random.Random, count: int) -> list[tuple[float, float, int]]:
    onsets = [round(rng.uniform(0, 5), 2) for _ in range(count)]
    return [(onset, round(onset + rng.uniform(0.05, 1), 2), rng.randint(60, 64)) for onset in onsets]


@pytest.mark.parametrize("offset_ratio", [None, 0.2])
def test_notes_are_mir_eval(offset_ratio: float | None) -> None:
    from mir_eval.transcription import precision_recall_f1_overlap
    from mir_eval.util import midi_to_hz

    for seed in range(60):
        rng = random.Random(seed)
        reference = _notes(rng, 15)
        hypothesis = [
            (max(0, n[0] + rng.uniform(-0.08, 0.08)), n[1] + 0.1, n[2]) for n in reference if rng.random() > 0.2
        ] + _notes(rng, 4)
        arrays = []
        for side in (reference, hypothesis):
            array = np.array(side, dtype=float)
            arrays += [array[:, :2], midi_to_hz(array[:, 2])]
        expected = precision_recall_f1_overlap(*arrays, onset_tolerance=0.05, offset_ratio=offset_ratio)[2]
        row = metrics.note_row(reference, hypothesis, offset_ratio=offset_ratio)
        assert metrics.get("note_f1").aggregate([row]) == pytest.approx(expected, abs=1e-12)


def test_beats_are_mir_eval() -> None:
    from mir_eval.beat import f_measure

    for seed in range(60):
        rng = np.random.default_rng(seed)
        reference = np.unique(rng.uniform(0, 20, 40).round(2))
        hypothesis = np.unique((reference[rng.random(len(reference)) > 0.3] + rng.normal(0, 0.05)).clip(0).round(2))
        shuffled = rng.permutation(np.repeat(hypothesis, 2))
        row = metrics.beat_row(reference, shuffled)
        assert metrics.get("beat_f").aggregate([row]) == pytest.approx(f_measure(reference, hypothesis), abs=1e-12)


def test_keys_are_mir_eval() -> None:
    from mir_eval.key import KEY_TO_SEMITONE, weighted_score

    keys = [f"{tonic} {mode}" for tonic in KEY_TO_SEMITONE if tonic != "x" for mode in ("major", "minor")]
    for reference, hypothesis in itertools.product(keys, keys):
        assert metrics.key_row(reference, hypothesis) == (weighted_score(reference, hypothesis),)


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("mse", sk.mean_squared_error),
        ("mae", sk.mean_absolute_error),
        ("rmse", sk.root_mean_squared_error),
        ("mape", sk.mean_absolute_percentage_error),
        ("pcc", lambda x, y: scipy.stats.pearsonr(x, y).statistic),
        ("srcc", lambda x, y: scipy.stats.spearmanr(x, y).statistic),
        ("kendall", lambda x, y: scipy.stats.kendalltau(x, y).statistic),
        ("ccc", lambda x, y: 2 * np.cov(x, y, bias=True)[0, 1] / (np.var(x) + np.var(y) + (np.mean(x) - np.mean(y)) ** 2)),
    ],
)
@pytest.mark.parametrize("offset", [0, 1_000_000])
def test_regression_is_sklearn_and_scipy(name: str, oracle, offset: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = offset + rng.integers(1, 11, 700).astype(float)  # with ties
        y = x + rng.normal(0, 3, 700).round()
        rows = [metrics.number_row(*pair) for pair in zip(x, y, strict=True)]
        assert metrics.get(name).aggregate(rows) == pytest.approx(oracle(x, y), rel=1e-9)


def test_labels_are_sklearn() -> None:
    rng = random.Random(7)
    labels = ["yes", "no", "maybe", "never"]
    reference = [rng.choice(labels[:3]) for _ in range(200)]
    prediction = [rng.choice([*labels, None]) for _ in range(200)]
    named = [p or "<none>" for p in prediction]
    rows = [metrics.class_row(*pair) for pair in zip(reference, prediction, strict=True)]
    macro = sk.f1_score(reference, named, labels=sorted(set(reference)), average="macro", zero_division=0)
    assert metrics.get("macro_f1").aggregate(rows) == pytest.approx(macro, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert metrics.get("balanced_accuracy").aggregate(rows) == pytest.approx(
            sk.balanced_accuracy_score(reference, named), abs=1e-12
        )


def test_sets_of_labels_are_sklearn() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.random((100, 5)) > 0.6, rng.random((100, 5)) > 0.5
    rows = [metrics.set_row(*(np.flatnonzero(side).astype(str) for side in pair)) for pair in zip(x, y, strict=True)]
    assert metrics.get("multilabel_exact").aggregate(rows) == pytest.approx(sk.accuracy_score(x, y))
    assert metrics.get("multilabel_micro_f1").aggregate(rows) == pytest.approx(sk.f1_score(x, y, average="micro"))
    assert metrics.get("multilabel_sample_f1").aggregate(rows) == pytest.approx(
        sk.f1_score(x, y, average="samples", zero_division=1)
    )
    assert metrics.get("multilabel_jaccard").aggregate(rows) == pytest.approx(
        sk.jaccard_score(x, y, average="samples", zero_division=1)
    )


def _events(rng: random.Random, count: int) -> list[tuple[float, float, str]]:
    onsets = [rng.randint(0, 60) / 10 for _ in range(count)]
    return [(onset, onset + rng.randint(1, 30) / 10, rng.choice(["dog", "Alarm_bell", "alarm bell"])) for onset in onsets]


@pytest.mark.parametrize("share", [None, 0.2])
def test_events_are_matched_as_often_as_possible(share: float | None) -> None:
    """Against every assignment, on cases small enough to try them all."""
    for seed in range(150):
        rng = random.Random(seed)
        reference, hypothesis = _events(rng, rng.randint(0, 5)), _events(rng, rng.randint(0, 5))

        def fits(one: tuple, other: tuple) -> bool:
            labels = {label.replace("_", " ").lower() for label in (one[2], other[2])}
            offset = share is None or abs(one[1] - other[1]) <= max(0.2, share * (one[1] - one[0])) + 1e-6
            return len(labels) == 1 and abs(one[0] - other[0]) <= 0.2 + 1e-6 and offset

        short, long = sorted((reference, hypothesis), key=len)
        swap = short is not reference
        best = max(
            (
                sum(fits(*((b, a) if swap else (a, b))) for a, b in zip(short, chosen, strict=True))
                for chosen in itertools.permutations(long, len(short))
            ),
            default=0,
        )
        row = metrics.event_row(reference, hypothesis, offset_share=share)
        assert row == (best, len(reference), len(hypothesis)), seed
        by_class = metrics.event_class_row(reference, hypothesis, offset_share=share)
        assert sum(by_class[1::4]) == best


def test_segments_against_a_roll_of_cells() -> None:
    for seed in range(100):
        rng = random.Random(seed)
        reference, hypothesis = _events(rng, rng.randint(0, 6)), _events(rng, rng.randint(0, 6))
        cells = []
        for second in range(7):
            active = [
                {e[2].replace("_", " ").lower() for e in side if math.floor(e[0] + 1e-6) <= second < math.ceil(e[1] - 1e-6)}
                for side in (reference, hypothesis)
            ]
            missed, added = len(active[0] - active[1]), len(active[1] - active[0])
            cells.append(
                (
                    len(active[0] & active[1]),
                    len(active[0]),
                    len(active[1]),
                    min(missed, added),
                    max(0, missed - added),
                    max(0, added - missed),
                )
            )
        both, n_ref, n_hyp, swapped, deleted, inserted = (sum(column) for column in zip(*cells, strict=True))
        assert metrics.segment_row(reference, hypothesis, 7.0) == (both, n_ref, n_hyp)
        assert metrics.segment_error_row(reference, hypothesis, 7.0) == (swapped, deleted, inserted, n_ref)
