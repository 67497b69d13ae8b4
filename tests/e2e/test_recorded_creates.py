"""Recorded answers of Kubernetes to creates, end to end."""

from contextlib import closing
from pathlib import Path

from tools.conformance import judge_file
from tools.conformance_server import ServerJudge, find_server

RECORDED = Path(__file__).parents[1] / "conformance" / "api-validation.jsonl"


def test_a_running_server_answers_creates_as_recorded(kubeconfig: Path) -> None:
    with closing(ServerJudge(find_server(None, None, kubeconfig))) as judge:
        tally = judge_file(RECORDED, (judge,), show_texts=False, quiet=True)
    assert tally.failures == {}
    assert tally.passed > 0
