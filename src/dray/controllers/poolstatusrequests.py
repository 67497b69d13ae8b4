"""Answers to questions about pools, each given once, and the deletion of old questions."""

from typing import Final

from msgspec.structs import replace

from dray.api.meta import DeleteOptions, Preconditions
from dray.api.resource.kinds import (
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.resource.poolstatus import ResourcePoolStatusRequest
from dray.api.resource.slice import ResourceSlice
from dray.client.changes import Change
from dray.client.port import ObjectName, Unreachable
from dray.client.view import name_of
from dray.controllers.commons import Commons
from dray.controllers.poolanswers import PoolIncomplete, answer_request, is_over, list_holdings
from dray.controllers.runtime import Controller
from dray.errors import ApiError, Conflict, NotFound

__all__ = ["PoolStatusRequests"]

_ATTEMPTS: Final = 5
_ATTEMPT_SECONDS: Final = 1.0
"""A pool that is being replaced is looked at so often, in growing distances; then a slice must change."""
_SWEEP_SECONDS: Final = 600.0
_SWEEP: Final = ObjectName("", "every question")
"""The key under which old questions are looked for: no object has an empty name."""


class PoolStatusRequests:
    """Answers from the views as they are. Kubernetes answers nothing while some pool in question is incomplete."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        self._clock = commons.effects.clock
        self._metrics = commons.metrics
        requests = commons.follow(RESOURCE_POOL_STATUS_REQUEST)
        self._requests = requests.view
        slices = commons.follow(RESOURCE_SLICE)
        self._slices = slices.view
        self._claims = commons.follow(RESOURCE_CLAIM).view
        self._rules = commons.follow(DEVICE_TAINT_RULE).view if commons.has(DEVICE_TAINT_RULE) else None
        self._waited: dict[ObjectName, int] = {}
        self.controller: Controller[ObjectName] = Controller("pool status requests", self.reconcile, commons.effects)
        self._log = commons.effects.log
        requests.add_handler(self._note)
        slices.add_handler(self._note_slice)
        self.controller.wake(_SWEEP)

    def _note(self, change: Change[ResourcePoolStatusRequest]) -> None:
        if change.new is None:
            self._waited.pop(change.name, None)
        elif change.new.status is None:
            self._waited[change.name] = 0
            self.controller.wake(change.name)

    def _note_slice(self, change: Change[ResourceSlice]) -> None:
        """A pool may be complete now that some question waits for."""
        for name, waited in self._waited.items():
            if waited:
                self.controller.wake(name)

    async def reconcile(self, name: ObjectName) -> float | None:
        """Answer a question, or delete the old ones. Returns when to look again."""
        if name == _SWEEP:
            await self._sweep()
            return _SWEEP_SECONDS
        request = self._requests.find(name)
        if request is None or request.status is not None:
            return None
        driver, begun = request.spec.driver, self._clock.monotonic()
        rules = tuple(self._rules) if self._rules is not None else ()
        holdings = list_holdings(self._claims, driver)
        try:
            answered = answer_request(request, self._slices, holdings, rules, self._clock.now().to_time())
        except PoolIncomplete as fault:
            self._log.debug("question about pools has to wait", request=name.name, err=fault)
            return self._plan_wait(name)
        try:
            await self._client.update(
                RESOURCE_POOL_STATUS_REQUEST, replace(request, status=answered), subresource="status"
            )
        except (ApiError, Unreachable):
            self._metrics.pool_request_errors.labels(driver).inc()
            raise
        self._waited.pop(name, None)
        self._metrics.pool_requests.labels(driver).inc()
        self._metrics.pool_request_seconds.labels(driver).observe(self._clock.monotonic() - begun)
        return None

    def _plan_wait(self, name: ObjectName) -> float | None:
        waited = self._waited.get(name, 0)
        self._waited[name] = waited + 1
        return _ATTEMPT_SECONDS * 2**waited if waited < _ATTEMPTS else None

    async def _sweep(self) -> None:
        now = self._clock.now().to_time()
        for request in self._requests:
            if is_over(request, now):
                options = DeleteOptions(preconditions=Preconditions(uid=request.metadata.uid))
                try:
                    await self._client.delete(RESOURCE_POOL_STATUS_REQUEST, name_of(request), options)
                except (Conflict, NotFound):
                    continue
