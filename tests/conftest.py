"""Settings of the whole suite: how long hypothesis searches."""

from hypothesis import HealthCheck, settings

# No deadlines: time limits live in `make bench` alone. On a busy machine drawing may be slow, which is no fault.
_PATIENT = (HealthCheck.too_slow,)
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_PATIENT)
settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=_PATIENT, derandomize=True, print_blob=True
)
settings.register_profile("soak", max_examples=5_000, deadline=None, suppress_health_check=_PATIENT, print_blob=True)
settings.load_profile("dev")
