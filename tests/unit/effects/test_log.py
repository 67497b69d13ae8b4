import io
import json

from dray.effects.clock import FakeClock
from dray.effects.log import JsonLog, Level, Log, LogEntry, MemoryLog, TextLog


def speak(log: Log) -> None:
    log.debug("claim skipped", claim="ml/train-0")
    log.info("claim allocated", claim="ml/train-0", devices=3)
    log.error("driver gone", err=OSError("no such socket"))


def test_text_log_writes_pairs_and_quotes_what_has_spaces() -> None:
    stream = io.StringIO()
    speak(TextLog(stream, FakeClock()))
    assert stream.getvalue().splitlines() == [
        "2026-01-01T00:00:00.000000Z info  claim allocated claim=ml/train-0 devices=3",
        '2026-01-01T00:00:00.000000Z error driver gone err="no such socket"',
    ]


def test_json_log_writes_one_object_a_line() -> None:
    stream = io.StringIO()
    speak(JsonLog(stream, FakeClock(), level=Level.ERROR))
    assert json.loads(stream.getvalue()) == {
        "time": "2026-01-01T00:00:00.000000Z",
        "level": "error",
        "message": "driver gone",
        "err": "no such socket",
    }


def test_memory_log_keeps_everything() -> None:
    log = MemoryLog()
    speak(log)
    assert [entry.level for entry in log.entries] == [Level.DEBUG, Level.INFO, Level.ERROR]
    assert log.entries[1] == LogEntry(Level.INFO, "claim allocated", {"claim": "ml/train-0", "devices": 3})


def test_level_covers_what_matters_as_much_or_more() -> None:
    assert [level for level in Level if Level.INFO.covers(level)] == [Level.INFO, Level.ERROR]
