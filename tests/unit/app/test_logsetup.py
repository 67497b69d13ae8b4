import io

import pytest

from dray.app.logsetup import open_log
from dray.app.settings import LogFormat, LogSettings
from dray.effects.clock import FakeClock
from dray.effects.log import Level


@pytest.mark.parametrize(("form", "want"), [(LogFormat.TEXT, "2026-"), (LogFormat.JSON, "{")])
def test_log_has_the_form_and_level_of_the_settings(form: LogFormat, want: str) -> None:
    stream = io.StringIO()
    log = open_log(LogSettings(level=Level.ERROR, format=form), stream, FakeClock())
    log.info("not written")
    assert stream.getvalue() == ""
    log.error("written")
    assert stream.getvalue().startswith(want)
