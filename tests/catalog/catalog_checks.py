"""What must hold in the folder of task files, as functions that list faults: run on the folder, and on broken copies of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lm_eval.tasks._yaml_loader import load_yaml

from dsb2_tasks.baseline import DIMENSIONS, phase1_dimensions
from dsb2_tasks.catalog import OTHER_SUITES
from dsb2_tasks.spec import DOMAINS, EXTRA_SUITE, GENERATION_SUITE, OFFICIAL_SUITE, TaskSpec, read_spec

OFFICIAL_FOLDERS = ("speech", "music", "audio")
MODALITY_TITLES = {"speech": "Speech", "music": "Music", "audio": "Audio"}

#: Tasks per domain of the paper's list; 180 in all.
DOMAIN_COUNTS = {
    "speech_recognition": 30,
    "spoken_language_understanding": 19,
    "phonetics_phonology_prosody": 23,
    "speech_enhancement": 19,
    "paralinguistics": 12,
    "speaker_and_language": 10,
    "safety_and_security": 9,
    "speech_voice_hearing_disorder": 3,
    "music_classification": 15,
    "harmony_and_pitch": 6,
    "singing_analysis": 5,
    "rhythm_analysis": 2,
    "sound_event": 18,
    "spatial_audio": 4,
    "audio_safety": 2,
    "signal_characteristics": 2,
    "quality_assessment": 1,
}

#: Of the 180, those that the authors' list of 2025 does not name; OOD-ASR stands there as four tasks.
NOT_IN_2025 = {
    "dsb2_speech_command_recognition_gsc_v1",
    "dsb2_hear_spoken_commands_5hr",
    "dsb2_marble_genre_classification_gtzan",
    "dsb2_vocal_technique_classification_vocalset",
    "dsb2_beijing_opera_instrument",
    "dsb2_superb_ood_asr",
}
EXTRA_TASKS = {
    "dsb2_speaker_verification_librispeech_other",
    "dsb2_superb_asr_librispeech_other",
    "dsb2_superb_pr_librispeech_other",
    "dsb2_superb_ood_asr_es",
    "dsb2_superb_ood_asr_ar",
    "dsb2_superb_ood_asr_zh",
    "dsb2_superb_ood_asr_spontaneous",
}
#: Tasks with audio as output; in no group but their own.
GENERATION_TASKS = {
    "dsb2_superb_se_voicebank_demand",
    "dsb2_superb_ss_libri2mix",
    "dsb2_song_separation_singset",
    "dsb2_singing_voice_synthesis_ace_opencpop",
    "dsb2_emotional_voice_conversion_esd",
}
#: Folders of suites that are not sorted by modality and domain.
SUITE_FOLDERS = {EXTRA_SUITE: "extra", GENERATION_SUITE: "extra/generation"}
CROSS_TAGS = ("dsb2_phase1", "dsb2_core", "dsb2_2025")
_WITH_OPTIONS = ("choice", "labels", "slots", "entities", "tags", "events")
_TASK_KEYS = ["include", "task", "tag", "metadata", "dsb2"]


def task_files(root: Path) -> list[Path]:
    """Task files of the suite, the extras and the tasks with audio as output."""
    folders = (*OFFICIAL_FOLDERS, *SUITE_FOLDERS.values())
    return sorted({path for folder in folders for path in (root / folder).glob("**/*.yaml")})  # one folder lies in another


def template_files(root: Path) -> list[Path]:
    """Templates of the output kinds."""
    return sorted(path for path in root.glob("_*.yaml") if path.name != "_base.yaml")


def own(path: Path) -> dict[str, Any]:
    """What stands in the file itself."""
    return load_yaml(path, resolve_func=False, recursive=False)


def merged(path: Path) -> dict[str, Any]:
    """The file with its templates, as lm-eval reads it."""
    return load_yaml(path, resolve_func=False)


def spec_of(path: Path) -> TaskSpec:
    """The checked ``dsb2:`` block of a task file."""
    return read_spec(merged(path), path)


def task_faults(path: Path, root: Path) -> Iterator[str]:
    """Faults of one task file."""
    config = own(path)
    try:
        spec = spec_of(path)
    except ValueError as error:  # a SpecError, or an include chain that lm-eval refuses
        yield str(error)
        return
    if list(config) != _TASK_KEYS:
        yield f"top-level keys are {list(config)}, not {_TASK_KEYS}"
        return
    if not path.read_text(encoding="utf-8").startswith("# "):
        yield "the first line is no comment that says what the task asks"
    folder = SUITE_FOLDERS.get(spec.suite, f"{spec.modality}/{spec.domain}")
    if path.parent.relative_to(root).as_posix() != folder:
        yield f"lies in {path.parent.relative_to(root)}, belongs into {folder}"
    if spec.suite not in (OFFICIAL_SUITE, *SUITE_FOLDERS):
        yield f"suite is {spec.suite!r}"
    if config["task"] != f"dsb2_{path.stem}":
        yield f"task is {config['task']!r}, the file name says 'dsb2_{path.stem}'"
    if not isinstance(config["metadata"].get("version"), int):
        yield "metadata.version is no whole number"
    if (spec.suite == GENERATION_SUITE) != (spec.kind == "waveform"):
        yield f"kind {spec.kind!r} does not belong into suite {spec.suite!r}"
    yield from _include_faults(path, config, spec, root)
    yield from _tag_faults(config, spec)
    yield from _repetitions(path, config)
    yield from _data_faults(spec)
    yield from _option_faults(spec)


def _include_faults(path: Path, config: dict[str, Any], spec: TaskSpec, root: Path) -> Iterator[str]:
    template = (path.parent / str(config["include"])).resolve()
    if template != (root / f"_{spec.kind}.yaml").resolve():
        yield f"include is {config['include']!r}, not the template of kind {spec.kind!r}"


def _tag_faults(config: dict[str, Any], spec: TaskSpec) -> Iterator[str]:
    tags = config["tag"]
    if tags[:1] != [f"dsb2_{spec.kind}"]:
        yield f"first tag is {tags[:1]}, not dsb2_{spec.kind}"
    if unknown := [tag for tag in tags[1:] if tag not in CROSS_TAGS]:
        yield f"unknown tags {unknown}"
    if len(set(tags)) != len(tags):
        yield f"tags are listed twice: {tags}"
    if {"dsb2_phase1", "dsb2_core"} <= set(tags):
        yield "is tagged phase 1 and core at once"


def _repetitions(path: Path, config: dict[str, Any]) -> Iterator[str]:
    complete = merged(path)
    template = {**complete["dsb2_base"], **complete["dsb2_template"]}
    for key, value in config["dsb2"].items():
        if key in template and template[key] == value:
            yield f"dsb2.{key} repeats its template"
        # medium is the default confidence, and worth saying
        if key not in template and key != "confidence" and value == _plain(TaskSpec.model_fields[key].get_default()):
            yield f"dsb2.{key} repeats the default"


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _data_faults(spec: TaskSpec) -> Iterator[str]:
    for source in spec.data:
        if not re.fullmatch(r"DynamicSuperb/[\w.-]+", source.path):
            yield f"data set {source.path!r} is not of the organisation DynamicSuperb"
    codes = [spec.language, *(source.language for source in spec.data)]
    if wrong := [code for code in codes if code is not None and not re.fullmatch(r"[a-z]{2}", code)]:
        yield f"no ISO 639-1 code: {wrong}"
    if spec.instance is None:
        yield "dsb2.instance is missing"
    if not spec.source or not spec.citation:
        yield "neither file nor template says source and citation"


def _option_faults(spec: TaskSpec) -> Iterator[str]:
    if spec.kind in ("choice", "labels", "slots", "entities", "tags") and spec.options is None:
        yield f"kind {spec.kind} needs options"
    if spec.options is not None and spec.kind not in _WITH_OPTIONS:
        yield f"kind {spec.kind} takes no options"
    if spec.number is not None and spec.kind != "number":
        yield f"kind {spec.kind} takes no number"
    options = spec.options if isinstance(spec.options, tuple) else ()
    wordings = Counter(name.casefold() for name in [*options, *(alias for names in spec.aliases.values() for alias in names)])
    if ambiguous := [name for name, count in wordings.items() if count > 1]:
        yield f"wordings of more than one option, or said twice: {ambiguous}"


def template_faults(path: Path, root: Path) -> Iterator[str]:
    """Faults of one template of an output kind."""
    kind = path.stem[1:]
    config = own(path)
    if config.get("include") != "_base.yaml":  # one file, so that the chain is a line: lm-eval drops a diamond without a word
        yield f"include is {config.get('include')!r}, not '_base.yaml'"
        return
    complete = merged(path)
    if list(config) != ["include", "process_results", "generation_kwargs", "dsb2_template"]:
        yield f"top-level keys are {list(config)}"
        return
    if not config["process_results"].endswith(f"dsb2_tasks.hooks.{kind}"):
        yield f"process_results is not the hook of kind {kind!r}"
    if config["dsb2_template"].get("kind") != kind:
        yield f"dsb2_template.kind is not {kind!r}"
    settings = complete["generation_kwargs"]
    if settings.get("until") != []:
        yield "generation_kwargs.until is not the explicit empty list"
    if settings.get("do_sample") is not False or settings.get("temperature") != 0.0:
        yield "generation is not greedy"
    if not 64 <= settings.get("max_gen_toks", 0) <= 2048:
        yield f"max_gen_toks is {settings.get('max_gen_toks')}"
    if complete.get("fewshot_config") != {"samples": []} or complete.get("num_fewshot") != 0:
        yield "the few-shot sampler is not switched off"
    base = complete["dsb2_base"]
    if set(base) != {"source", "citation"}:
        yield f"dsb2_base holds {sorted(base)}, not source and citation"
    if repeated := sorted(set(config["dsb2_template"]) & set(base)):
        yield f"dsb2_template repeats {repeated} of the base"


def group_faults(root: Path) -> Iterator[str]:
    """Faults of the group files: every domain once, under its modality, under the suite."""
    wanted: dict[str, dict[str, Any]] = {
        "dsb2": {"title": "Dynamic-SUPERB Phase-2", "suite": OFFICIAL_SUITE, "groups": [f"dsb2_{m}" for m in MODALITY_TITLES]}
    }
    for modality, title in MODALITY_TITLES.items():
        domains = [f"dsb2_{domain}" for domain, (of, _) in DOMAINS.items() if of == modality]
        wanted[f"dsb2_{modality}"] = {"title": title, "suite": OFFICIAL_SUITE, "groups": domains}
    for domain, (_, title) in DOMAINS.items():
        wanted[f"dsb2_{domain}"] = {"title": title, "suite": OFFICIAL_SUITE, "domain": domain}
    wanted["dsb2_generation"] = {"title": "Audio Generation", "suite": GENERATION_SUITE}
    wanted["dsb2_community"] = {"title": "Community Tasks", "suite": OTHER_SUITES}
    for dimension in DIMENSIONS:
        tasks = sorted(task for task, of in phase1_dimensions().items() if of == dimension)
        title = f"Phase 1, {dimension.capitalize()}"
        wanted[f"dsb2_phase1_{dimension}"] = {"title": title, "suite": OFFICIAL_SUITE, "mean": "phase1_exact", "tasks": tasks}
    names = [f"dsb2_phase1_{dimension}" for dimension in DIMENSIONS]
    wanted["dsb2_phase1_dimensions"] = {"title": "Phase 1", "suite": OFFICIAL_SUITE, "mean": "phase1_exact", "groups": names}
    files = {path.stem: path for path in (root / "groups").glob("*.yaml")}
    for name in sorted(set(wanted) - set(files)):
        yield f"groups/{name}.yaml: is missing"
    for name, path in sorted(files.items()):
        config = own(path)
        if config.get("task") != name:
            yield f"groups/{name}.yaml: task is {config.get('task')!r}"
        if config.get("dsb2_group") != wanted.get(name):
            yield f"groups/{name}.yaml: dsb2_group is {config.get('dsb2_group')}, not {wanted.get(name)}"
        if not str(config.get("class")).endswith("dsb2_tasks.group.DSB2Group"):
            yield f"groups/{name}.yaml: class is {config.get('class')!r}"


def tree_faults(root: Path) -> Iterator[str]:
    """Faults that only show over all files: numbers of tasks, tags and names."""
    specs = {path: spec_of(path) for path in task_files(root)}
    official = {path.stem: spec for path, spec in specs.items() if spec.suite == OFFICIAL_SUITE}
    counts = Counter(spec.domain for spec in official.values())
    for domain, count in DOMAIN_COUNTS.items():
        if counts[domain] != count:
            yield f"domain {domain}: {counts[domain]} tasks instead of {count}"
    extras = {f"dsb2_{path.stem}" for path, spec in specs.items() if spec.suite == EXTRA_SUITE}
    if extras != EXTRA_TASKS:
        yield f"extras: {sorted(extras ^ EXTRA_TASKS)}"
    generation = {f"dsb2_{path.stem}" for path, spec in specs.items() if spec.suite == GENERATION_SUITE}
    if generation != GENERATION_TASKS:
        yield f"tasks with audio as output: {sorted(generation ^ GENERATION_TASKS)}"
    tags: dict[str, set[str]] = {}
    for path in specs:
        for tag in own(path)["tag"]:
            tags.setdefault(tag, set()).add(f"dsb2_{path.stem}")
    everything = {f"dsb2_{path.stem}" for path in specs}
    for tag, count in (("dsb2_phase1", 55), ("dsb2_core", 34), ("dsb2_2025", 181)):
        if len(tags.get(tag, ())) != count:
            yield f"tag {tag}: {len(tags.get(tag, ()))} tasks instead of {count}"
    if missing := (everything - tags.get("dsb2_2025", set())) ^ (NOT_IN_2025 | GENERATION_TASKS):
        yield f"tag dsb2_2025 is off for {sorted(missing)}"
    if misplaced := (tags.get("dsb2_phase1", set()) | tags.get("dsb2_core", set())) & (extras | generation):
        yield f"extras tagged as tasks of the 180: {sorted(misplaced)}"
    groups = {path.stem for path in (root / "groups").glob("*.yaml")}
    if clash := (groups & everything) | (groups & set(tags)) | (everything & set(tags)):
        yield f"names with two meanings: {sorted(clash)}"
    for what, values in (
        ("instance", [spec.instance for spec in specs.values()]),
        ("data set", [source.path for spec in official.values() for source in spec.data]),
    ):
        if twice := [value for value, count in Counter(values).items() if count > 1]:
            yield f"{what} of two tasks: {twice}"
    read = {source.path for spec in specs.values() for source in spec.data}
    if both := read & {name for spec in specs.values() for name in spec.replaced}:
        yield f"read and called replaced: {sorted(both)}"


def all_faults(root: Path) -> list[str]:
    """Every fault of a folder of task files."""
    faults = [f"{path.relative_to(root)}: {fault}" for path in task_files(root) for fault in task_faults(path, root)]
    faults += [f"{path.relative_to(root)}: {fault}" for path in template_files(root) for fault in template_faults(path, root)]
    return [*faults, *group_faults(root), *tree_faults(root)]
