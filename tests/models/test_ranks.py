"""Two processes over gloo, as torchrun starts them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from _requests import Shelf, request, tone

from dsb2_tasks.models._ranks import Ranks, in_document_order
from dsb2_tasks.models._tally import Failure, Tally
from dsb2_tasks.models.hf_audio import HFAudio


def test_alone() -> None:
    ranks = Ranks(cpu=True)
    assert (ranks.rank, ranks.world_size, ranks.local_rank) == (0, 1, 0)
    assert ranks.all_gather(torch.tensor(3)).tolist() == [3]
    assert ranks.gather_object({"a": 1}) == [{"a": 1}]
    ranks.barrier()


RANK = """
import json, sys
from pathlib import Path
import torch
sys.path[:0] = [sys.argv[1], str(Path(sys.argv[1]).parent)]
from _requests import Shelf, request, tone, wav
from dsb2_tasks.models.hf_audio import HFAudio

tiny, out = sys.argv[2], Path(sys.argv[3])
torch.set_num_threads(1)
shelf = Shelf()
clips = [shelf.put(tone(200 + 90 * i, 1 + 31 * (i == 3))) for i in range(4)] + [shelf.put(b"broken")]
requests = [request("What is said?", clip) for clip in clips]
lm = HFAudio(pretrained=tiny, device="cuda:0", batch_size=2, responses=str(out / "responses"))
# As lm-eval deals out 5 documents and pads the shorter rank with its last one.
mine = requests[lm.rank :: lm.world_size]
counts = lm.all_gather(torch.tensor(len(mine), device=lm.device)).cpu().detach().numpy().tolist()
mine += [mine[-1]] * (max(counts) - counts[lm.rank])
answers = lm.generate_until(mine)
lm.barrier()
gathered = lm.gather_object(answers, dst=0)
if lm.rank == 0:
    info = lm.get_model_info()["dsb2_model"]
    (out / "result.json").write_text(json.dumps({"counts": counts, "gathered": gathered, "info": info, "device": str(lm.device)}))
else:
    assert gathered is None
"""


@pytest.mark.slow
def test_two_ranks_give_the_answers_and_counts_of_one(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "rank.py").write_text(RANK)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", str(port)]
    command = [*launch, str(tmp_path / "rank.py"), str(Path(__file__).parent), str(tiny), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["counts"] == [3, 2] and result["device"] == "cpu"

    shelf = Shelf()
    clips = [shelf.put(tone(200 + 90 * i, 1 + 31 * (i == 3))) for i in range(4)] + [shelf.put(b"broken")]
    alone = HFAudio(pretrained=str(tiny), device="cpu", resume=False)
    answers = alone.generate_until([request("What is said?", clip) for clip in clips])
    even, odd = result["gathered"]
    assert even[:2] == answers[0:4:2] and odd == [answers[1], answers[3], answers[3]]
    info = alone.get_model_info()["dsb2_model"]
    assert result["info"]["time"].pop("ranks") == 2
    for side in (info, result["info"]):
        del side["time"]
    assert result["info"] == info
    assert info["audio_events"] == {"truncated": 1} and info["failures"] == {"audio_error": 1}

    # One process goes on where two were.
    again = HFAudio(pretrained=str(tiny), device="cpu", responses=str(tmp_path / "responses"))
    assert len(again._store) == 4


def test_tallies_of_ranks_add_up_without_counting_twice() -> None:
    from dsb2_tasks.models import Answer

    one, two = Tally(), Tally()
    one.note("a", Answer("x", ("resampled",), True), {"turns", "text"})
    one.note("b", Failure("audio_error", "no"), {"text"})
    two.note("a", Answer("x", ("resampled",), True), {"text", "events"})
    two.note("c", Answer("y", ("resampled", "padded"), windows=3))
    assert Tally.merge([one.export(), two.export()]).summary() == {
        "answers": 2,
        "answers_at_token_cap": 1,
        "answers_at_token_cap_by_task": {"events": 1, "text": 1, "turns": 1},
        "answers_from_windows": 1,
        "audio_events": {"padded": 1, "resampled": 2},
        "failures": {"audio_error": 1},
    }


def test_rows_of_ranks_in_the_order_of_the_documents() -> None:
    gathered = [
        {"a": {("der", "none"): [0, 3], ("der_stderr", "none"): [None, None]}, "b": {("acc", "none"): ["only"]}},
        {"a": {("der", "none"): [1, 4], ("der_stderr", "none"): [None, None]}, "b": {}},
        {"a": {("der", "none"): [2], ("der_stderr", "none"): [None]}, "b": {}},
    ]
    assert in_document_order(gathered) == {
        "a": {("der", "none"): [0, 1, 2, 3, 4], ("der_stderr", "none"): [None] * 5},
        "b": {("acc", "none"): ["only"]},
    }
    assert in_document_order([{"a": [0, 2]}, {"a": [1]}, {"a": []}]) == {"a": [0, 1, 2]}
