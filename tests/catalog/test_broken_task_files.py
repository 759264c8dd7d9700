"""Every check is shown to bite: a good folder is copied, one thing in it is broken, and the fault must be told."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import catalog_checks
import pytest

from dsb2_tasks import catalog
from dsb2_tasks.spec import SpecError

ACCENT = "speech/phonetics_phonology_prosody/accent_classification_accentdb.yaml"
BIRD = "audio/sound_event/bird_sound_detection_warblrb10k.yaml"
ASR = "speech/speech_recognition/superb_asr_librispeech.yaml"
COUNT = "speech/speaker_and_language/hear_speaker_count_libricount.yaml"
AGE = "speech/paralinguistics/age_classification_common_voice.yaml"
GENERATION = "extra/generation/superb_ss_libri2mix"
SHA = "1832d234ffe7ee15b513d3f342d0dab87470310b"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return shutil.copytree(catalog.yaml_root(), tmp_path / "yaml_tasks")


def break_file(root: Path, name: str, old: str, new: str) -> Path:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, f"{old!r} is not in {name}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (ACCENT, "confidence: high", "confidnce: high", r"dsb2\.confidnce: unknown key; did you mean 'confidence'\?"),
        (ACCENT, "confidence: high", "confidence: sure", r"dsb2\.confidence: .*'high', 'medium' or 'low'.*'sure'"),
        (ACCENT, "    - path:", "    - pth:", r"dsb2\.data\.0\.pth: unknown key; did you mean 'path'\?"),
        (ACCENT, "  domain: phonetics_phonology_prosody\n", "", r"dsb2\.domain: key is missing"),
        (ACCENT, "domain: phonetics_phonology_prosody", "domain: phonetics", r"domain 'phonetics' is none of the 17"),
        (ACCENT, "modality: speech", "modality: music", r"belongs to modality 'speech', not 'music'"),
        (ACCENT, "american, australian", "american, american", r"options listed twice: 'american'"),
        (ASR, f"revision: {SHA}", "revision: main", r"dsb2\.data\.0\.revision: .*'main'"),
        (ASR, f"revision: {SHA}", f"revision: {SHA[:7]}", r"dsb2\.data\.0\.revision: .*40"),
        (BIRD, '"yes", "no"', "yes, no", r"dsb2\.options.*option True is a bool, not text: put it in quotes"),
        (COUNT, '["0", "1"', '["0", 1', r"dsb2\.options.*option 1 is a int, not text: put it in quotes"),
        (f"{GENERATION}.yaml", "  reference_audio: [[label, label1, source1], [label2, source2]]\n", "", r"need each other"),
        (f"{GENERATION}.yaml", "[label2, source2]", "[label2, audio]", r"a model would hear the answer: \['audio'\]"),
        (ASR, "language: en", "language: en\n  reference_audio: [label]", r"need each other"),
        (AGE, "twenties: [", "twentys: [", r"dsb2: .*aliases for what is no option: 'twentys'"),
        (AGE, 'twenties: ["20s"]', "twenties: [20]", r"dsb2\.aliases\.twenties\.0: .*valid string"),
    ],
)
def test_a_broken_block_is_refused_with_file_key_and_fix(copy: Path, name: str, old: str, new: str, said: str) -> None:
    path = break_file(copy, name, old, new)
    with pytest.raises(SpecError) as caught:
        catalog_checks.spec_of(path)
    for line in str(caught.value).splitlines():
        assert line.startswith(f"{path}: dsb2")
    assert re.search(said, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (ASR, "path: DynamicSuperb/", "path: Somebody/", r"not of the organisation"),
        (ASR, "language: en", "language: english", r"no ISO 639-1 code: \['english'\]"),
        (ASR, "language: en", "language: en\n  metric: wer", r"dsb2\.metric repeats its template"),
        (ASR, "language: en", "language: en\n  audio: [audio]", r"dsb2\.audio repeats the default"),
        (ASR, "language: en", "language: en\n  number: {}", r"kind transcript takes no number"),
        (ASR, "language: en", "language: en\n  options: [a]", r"kind transcript takes no options"),
        (ASR, "_transcript.yaml", "_phonemes.yaml", r"first tag is"),
        (ASR, "tag: [dsb2_transcript, dsb2_core", "tag: [dsb2_transcript, dsb2_cor", r"unknown tags \['dsb2_cor'\]"),
        (ASR, "dsb2_core,", "dsb2_core, dsb2_phase1,", r"phase 1 and core at once"),
        (ASR, "task: dsb2_superb_asr_librispeech", "task: dsb2_asr", r"the file name says 'dsb2_superb_asr_librispeech'"),
        (ASR, "suite: dsb2-phase2", "suite: dsb2-2025", r"belongs into extra"),
        (ASR, "domain: speech_recognition", "domain: paralinguistics", r"belongs into speech/paralinguistics"),
        (ASR, "metadata: {version: 1}", "metadata: {version: 1}\nrepeats: 2", r"top-level keys are"),
        (ASR, "version: 1", "version: one", r"no whole number"),
        (ASR, "  instance: SuperbASR_LibriSpeech-TestClean\n", "", r"dsb2\.instance is missing"),
        (ASR, "# ", "", r"no comment that says what the task asks"),
        (BIRD, "suite: dsb2-phase2", "suite: dsb2-generation", r"belongs into extra/generation"),
        (BIRD, "suite: dsb2-phase2", "suite: dsb2-generation", r"kind 'choice' does not belong into suite"),
        (ACCENT, "  options: [american", "  replaced: [american", r"kind choice needs options"),
        (AGE, 'thirties: ["30s"]', 'thirties: ["20s"]', r"wordings of more than one option.*\['20s'\]"),
    ],
)
def test_a_task_file_out_of_order_is_told(copy: Path, name: str, old: str, new: str, said: str) -> None:
    if name == ASR and old == "# ":
        path = copy / name
        path.write_text(path.read_text(encoding="utf-8").split("\n", 1)[1], encoding="utf-8")
    else:
        path = break_file(copy, name, old, new)
    faults = list(catalog_checks.task_faults(path, copy))
    assert any(re.search(said, fault) for fault in faults), faults


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("until: []", 'until: ["\\n\\n"]', r"until"),
        ("  until: []\n", "", r"until"),
        ("do_sample: false", "do_sample: true", r"not greedy"),
        ("max_gen_toks: 256", "max_gen_toks: 32768", r"max_gen_toks is 32768"),
        ("  max_gen_toks: 256\n", "", r"max_gen_toks is None"),
        ("hooks.number", "hooks.choice", r"not the hook of kind 'number'"),
        ("kind: number", "kind: choice", r"kind is not 'number'"),
        ("kind: number", "kind: number\n  citation: Somebody", r"repeats \['citation'\] of the base"),
        ("dsb2_template:", "num_fewshot: 1\ndsb2_template:", r"top-level keys"),
    ],
)
def test_a_broken_template_is_told(copy: Path, old: str, new: str, said: str) -> None:
    path = break_file(copy, "_number.yaml", old, new)
    faults = list(catalog_checks.template_faults(path, copy))
    assert any(re.search(said, fault) for fault in faults), faults


def test_a_diamond_of_includes_is_told(copy: Path) -> None:
    template = break_file(copy, "_transcript.yaml", "include: _base.yaml", "include: [_base.yaml, _choice.yaml]")
    assert list(catalog_checks.template_faults(template, copy)) == ["include is ['_base.yaml', '_choice.yaml'], not '_base.yaml'"]
    assert any("Include cycle" in fault for fault in catalog_checks.task_faults(copy / ASR, copy))


def test_an_include_that_does_not_exist_is_refused(copy: Path) -> None:
    path = break_file(copy, ASR, "../../_transcript.yaml", "../../_transcripts.yaml")
    with pytest.raises(SpecError, match=r"superb_asr_librispeech\.yaml: include: '\.\./\.\./_transcripts\.yaml' does not exist"):
        catalog.load_config(path)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("dsb2_music", "    - dsb2_rhythm_analysis\n", "", r"dsb2_music\.yaml: dsb2_group"),
        ("dsb2_music", "dsb2_rhythm_analysis", "dsb2_sound_event", r"dsb2_music\.yaml: dsb2_group"),
        ("dsb2_sound_event", "domain: sound_event", "domain: spatial_audio", r"dsb2_sound_event\.yaml: dsb2_group"),
        ("dsb2_sound_event", "suite: dsb2-phase2", "suite: dsb2-2025", r"dsb2_sound_event\.yaml: dsb2_group"),
        ("dsb2_sound_event", "task: dsb2_sound_event", "task: dsb2_sounds", r"task is 'dsb2_sounds'"),
        ("dsb2_sound_event", "DSB2Group", "Group", r"class is"),
        ("dsb2_generation", "suite: dsb2-generation", "suite: dsb2-phase2", r"dsb2_generation\.yaml: dsb2_group"),
        (
            "dsb2_audio",
            "    - dsb2_sound_event",
            "    - dsb2_generation\n    - dsb2_sound_event",
            r"dsb2_audio\.yaml: dsb2_group",
        ),
    ],
)
def test_a_broken_group_is_told(copy: Path, name: str, old: str, new: str, said: str) -> None:
    break_file(copy, f"groups/{name}.yaml", old, new)
    faults = list(catalog_checks.group_faults(copy))
    assert any(re.search(said, fault) for fault in faults), faults


def _remove(root: Path, name: str) -> None:
    (root / name).unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda root: _remove(root, BIRD), r"domain sound_event: 17 tasks instead of 18"),
        (lambda root: _remove(root, "extra/superb_ood_asr_zh.yaml"), r"extras: \['dsb2_superb_ood_asr_zh'\]"),
        (lambda root: _remove(root, f"{GENERATION}.yaml"), r"with audio as output: \['dsb2_superb_ss_libri2mix'\]"),
        (lambda root: break_file(root, f"{GENERATION}.yaml", "[dsb2_waveform]", "[dsb2_waveform, dsb2_2025]"), r"tag dsb2_2025:"),
        (lambda root: break_file(root, ASR, ", dsb2_core", ""), r"tag dsb2_core: 33 tasks instead of 34"),
        (lambda root: break_file(root, ACCENT, ", dsb2_phase1", ""), r"tag dsb2_phase1: 54 tasks instead of 55"),
        (lambda root: break_file(root, ACCENT, ", dsb2_2025", ""), r"tag dsb2_2025 is off for \['dsb2_accent"),
        (
            lambda root: break_file(root, BIRD, "BirdSoundDetection_Warblrb10k", "SarcasmDetection_Mustard"),
            r"instance of two tasks",
        ),
        (
            lambda root: shutil.copy(root / "groups/dsb2.yaml", root / "groups/dsb2_choice.yaml"),
            r"two meanings: \['dsb2_choice'\]",
        ),
        (lambda root: _remove(root, "groups/dsb2_sound_event.yaml"), r"dsb2_sound_event\.yaml: is missing"),
    ],
)
def test_a_folder_out_of_order_is_told(copy: Path, change: Callable[[Path], object], said: str) -> None:
    change(copy)
    faults = [*catalog_checks.tree_faults(copy), *catalog_checks.group_faults(copy)]
    assert any(re.search(said, fault) for fault in faults), faults


def test_a_broken_official_file_stops_the_catalogue(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "yaml_root", lambda: copy)
    break_file(copy, BIRD, '"yes", "no"', "yes, no")
    with pytest.raises(SpecError, match=r"bird_sound_detection_warblrb10k\.yaml: dsb2\.options.*put it in quotes"):
        catalog.read_catalog()
