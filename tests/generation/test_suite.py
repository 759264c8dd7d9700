"""The five tasks: where they belong, what a model gets, what a task file may say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _sounds import NAMES, SVS, as_answer, clip, needs_libraries, speechlike, wav

from dsb2_tasks import catalog, compat, metrics
from dsb2_tasks.audio import check_handle
from dsb2_tasks.hooks import KINDS, LabelError
from dsb2_tasks.metrics import _generation
from dsb2_tasks.sources import DataError
from dsb2_tasks.spec import GENERATION_SUITE, SpecError

KNOWN = catalog.read_catalog([catalog.yaml_root()])


def test_they_are_in_no_group_but_their_own() -> None:
    assert set(KNOWN.members("dsb2_generation")) == set(NAMES)
    for group in KNOWN.groups:
        assert group == "dsb2_generation" or not set(KNOWN.members(group)) & set(NAMES)
        assert "dsb2_generation" not in KNOWN.groups[group].spec.groups
    assert len(KNOWN.members("dsb2")) == 180


def test_they_share_no_tag_with_other_tasks() -> None:
    others = {tag for name, entry in KNOWN.tasks.items() if name not in NAMES for tag in entry.tags}
    for name in NAMES:
        entry = KNOWN.tasks[name]
        assert entry.tags == ("dsb2_waveform",) and entry.spec.suite == GENERATION_SUITE and entry.spec.confidence == "low"
    assert "dsb2_waveform" not in others


@needs_libraries
def test_the_group_builds_its_tasks() -> None:
    manager = compat.task_manager([catalog.yaml_root()], {"data": "samples"})
    group = manager.load(["dsb2_generation"])["groups"]["dsb2_generation"]
    assert {task.task_name for task in group.get_all_tasks()} == set(NAMES)


@needs_libraries
@pytest.mark.parametrize("name", NAMES)
def test_a_model_never_gets_the_references(name: str, task: Callable[[str], Any]) -> None:
    one = task(name)
    columns = {column for names in one.spec.reference_columns for column in names}
    for doc in one.test_docs():
        assert len(doc["dsb2_reference"]) == len(one.spec.reference_audio) and doc["dsb2_label"] == []
        for handle in doc["dsb2_reference"]:
            assert check_handle(handle)["column"] in columns
        assert [handle for handle in doc["audio"] if handle in doc["dsb2_reference"]] == []
        assert not (columns & set(doc)) - {"audio"}  # the name under which every document has what a model hears
    one.build_all_requests(limit=2, rank=0, world_size=1)
    for instance in one.instances:
        request = compat.read_request(instance)
        assert len(request.audio) == len(one.spec.audio)
        assert {handle["column"] for handle in request.audio}.isdisjoint(columns)
        asked = json.dumps([request.prompt, list(request.audio)])
        for handle in one.test_docs()[instance.doc_id]["dsb2_reference"]:
            assert handle["sha256"] not in asked


@needs_libraries
def test_mixtures_are_the_sum_of_their_sources(task: Callable[[str], Any]) -> None:
    one = task("dsb2_superb_ss_libri2mix")
    for doc in one.test_docs():
        mixture, *sources = [*doc["audio"], *doc["dsb2_reference"]]
        total = sum(clip(handle)[0] for handle in sources)
        assert abs(total - clip(mixture)[0]).max() < 1e-3


TASK = """
task: my_denoising
class: !function dsb2_tasks.task.DSB2Task
metadata: {version: 1}
dsb2:
  kind: waveform
  metric: METRIC
  modality: audio
  domain: cleaning
  prompt: Clean this.
  reference_audio: [clean]
  data: [{path: ./clips}]
"""


@pytest.fixture
def community(tmp_path: Path) -> Callable[..., Any]:
    """A task of somebody else over a folder of clips."""

    def load(metric: str = "si_sdr", more: str = "", **columns: str) -> Any:
        clips = tmp_path / "clips"
        clips.mkdir(exist_ok=True)
        names = columns or {"file_name": "n.wav", "clean_file_name": "c.wav"}
        for number, name in enumerate(names.values()):
            (clips / name).write_bytes(wav(speechlike(number), 16000))
        (clips / "metadata.jsonl").write_text(json.dumps(names) + "\n")
        (tmp_path / "my_denoising.yaml").write_text(TASK.replace("METRIC", metric) + more)
        return compat.task_manager([tmp_path]).load(["my_denoising"])["tasks"]["my_denoising"]

    return load


def test_a_task_of_ones_own_needs_no_library_for_its_own_metric(community: Callable[..., Any]) -> None:
    one = community()
    doc = one.test_docs()[0]
    row = one.process_results(doc, [as_answer(doc["dsb2_reference"])])
    assert row["si_sdr"] == (100.0,) and row["na_rate"] == (0.0, "ok")
    assert one.spec.suite == "community"


def test_a_missing_library_is_told_before_a_model_is_asked(
    community: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pesq", None)
    _generation._library.cache_clear()
    with pytest.raises(metrics.MissingLibrary, match=r'pip install "dsb2-tasks\[generation\]"'):
        community("pesq_wb")
    _generation._library.cache_clear()


def test_a_missing_reference_column_is_told(community: Callable[..., Any]) -> None:
    with pytest.raises(DataError, match=r"no audio column 'clean'; its audio columns are audio \(see dsb2.reference_audio"):
        community(file_name="n.wav")


@pytest.mark.parametrize(
    ("metric", "more", "said"),
    [
        ("si_sdri", "  audio: []\n", "si_sdri compares with the clip that a model hears"),
        ("wer", "", "kind 'waveform' cannot count 'wer'"),
        ("si_sdr", "  audio: [clean]\n", r"a model would hear the answer: \['clean'\]"),
    ],
)
def test_task_files_that_cannot_work_are_told(community: Callable[..., Any], metric: str, more: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        community(metric, more)


@needs_libraries
def test_a_document_without_clips_cannot_be_scored(task: Callable[[str], Any]) -> None:
    one = task(SVS)
    doc = one.test_docs().text(0)
    with pytest.raises(LabelError, match="expected reference clips"):
        KINDS["waveform"].score("a.wav", doc, one.spec)
