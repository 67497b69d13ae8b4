"""A manifest while it is rewritten: as it was, as it becomes, and what was changed on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dray.authoring.tree import Tree

__all__ = ["Change", "Draft"]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was put right. Without a rule it is only a difference between versions, and nobody's fault."""

    rule: str
    path: str
    line: int
    message: str
    hint: str = ""
    is_done: bool = True
    """False where it is only pointed out: what was meant is not sure enough to write it."""


@dataclass(slots=True, eq=False)
class Draft:
    """One object. Whoever rewrites it notes each change, which the written manifest tells in a comment."""

    file: str
    line: int
    original: str
    """The text of the document that it is in."""
    before: bytes
    """The object as it was, as JSON."""
    tree: Tree
    former: str = ""
    """The apiVersion that it came with; once it is rewritten, in the right spelling."""
    former_kind: str = ""
    """The kind that it came as, likewise."""
    changes: list[Change] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Facts that only its author knows, by what to write where."""
    refusal: str = ""
    """Why it cannot be rewritten; empty where it can."""
    is_dropped: bool = False
    """Whether nothing is left of it."""
    additions: list[Tree] = field(default_factory=list)
    """Objects that it needs besides."""
    is_alone: bool = True
    """Whether it is all that its document holds."""

    @property
    def api_version(self) -> str:
        """What it says, or by now should say."""
        return self.tree.text_at("apiVersion")

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.rpartition("/")[0]

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.tree.text_at("kind")

    @property
    def name(self) -> str:
        """Its name."""
        return self.tree.text_at("metadata", "name")

    @property
    def namespace(self) -> str:
        """Its namespace, as kubectl would choose it."""
        return self.tree.text_at("metadata", "namespace") or "default"

    @property
    def title(self) -> str:
        """`ResourceClaim "ml/train-0"`, as far as it is known."""
        meta = self.tree.find("metadata")
        name = self.name or (f"{meta.text_at('generateName')}*" if meta and meta.text_at("generateName") else "")
        namespace = self.tree.text_at("metadata", "namespace")
        named = f' "{namespace}/{name}"' if namespace and name else f' "{name}"' if name else ""
        return (self.former_kind or self.kind or "object") + named

    @property
    def is_touched(self) -> bool:
        """Whether there is anything to write about it: a change, a comment, or that it cannot be."""
        is_changed = self.is_dropped or bool(self.additions) or any(change.is_done for change in self.changes)
        return is_changed or bool(self.missing or self.refusal)

    def change(self, part: Tree, comment: str, *, at: Tree | None = None) -> None:
        """Note a difference between versions. The comment stands above `part`."""
        where = at or part
        self._comment(part, comment, at)
        self.changes.append(Change("", where.path, where.line, comment))

    def fault(self, rule: str, part: Tree, message: str, *, hint: str = "", at: Tree | None = None) -> None:
        """Note a mistake that was mended. What is said of it stands above `part`; `at` is where it was made."""
        where = at or part
        self._comment(part, message, at)
        self.changes.append(Change(rule, where.path, where.line, message, hint))

    def _comment(self, part: Tree, comment: str, at: Tree | None) -> None:
        """Put a comment above a part, below what its author wrote where it was made if that goes away."""
        if at is not None and at.stand is not None and not any(each is at for each in part.walk()):
            part.comments += at.remarks()
            at.stand = None
        if comment not in part.remarks():
            part.comments.append(comment)

    def point_out(self, rule: str, part: Tree, message: str, *, hint: str = "") -> None:
        """Note a mistake that is not mended."""
        self.changes.append(Change(rule, part.path, part.line, message, hint, is_done=False))

    def miss(self, part: Tree, message: str, *, rule: str = "missing-fact") -> None:
        """Note a fact that has to be added."""
        self._comment(part, f"MISSING: {message}", None)
        self.missing.append(message)
        self.changes.append(Change(rule, part.path, part.line, f"missing: {message}"))

    def pod_specs(self) -> Iterator[Tree]:
        """The spec of a pod, or of the pods that a workload makes, wherever it has it."""
        for part in self.tree.walk():
            containers = part.fields.get("containers")
            if containers is not None and containers.items and all(each.fields for each in containers.items):
                yield part

    def device_claims(self) -> Iterator[Tree]:
        """The spec of a claim, or of the claims that a template makes."""
        if self.group == "resource.k8s.io" and self.kind == "ResourceClaim":
            spec = self.tree.find("spec")
        elif self.group == "resource.k8s.io" and self.kind == "ResourceClaimTemplate":
            spec = self.tree.find("spec", "spec")
        else:
            return
        if spec is not None:
            yield spec

    def requests(self) -> Iterator[Tree]:
        """Every request and alternative of its claims that has a class, in the shape of v1."""
        for claim in self.device_claims():
            for request in claim.items_at("devices", "requests"):
                exactly = request.find("exactly")
                if exactly is not None:
                    yield exactly
                yield from request.items_at("firstAvailable")
