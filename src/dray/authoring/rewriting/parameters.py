"""Objects with parameters, which the classic API referred to by parametersRef."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dray.authoring.drafts import Draft
from dray.authoring.tree import Tree

__all__ = ["Parameters", "gather_parameters"]


@dataclass(slots=True)
class Parameters:
    """The objects that a parametersRef leads to, by kind, namespace and name."""

    by_name: dict[tuple[str, str, str], Draft] = field(default_factory=dict)
    generated: dict[tuple[str, str, str], Draft] = field(default_factory=dict)
    """Those that a driver made of its own, by kind, namespace and name of that."""

    def found(self) -> list[Draft]:
        """All of them, each once."""
        return list({id(each): each for each in [*self.by_name.values(), *self.generated.values()]}.values())

    def of_claim(self, reference: Tree, namespace: str) -> Draft | None:
        """What the parametersRef of a claim leads to."""
        key = (reference.text_at("kind"), namespace, reference.text_at("name"))
        return self.generated.get(key) or self.by_name.get(key)

    def of_class(self, reference: Tree) -> Draft | None:
        """What the parametersRef of a class leads to, which may be without a namespace."""
        namespace = reference.text_at("namespace") or "default"
        return self.of_claim(reference, namespace)


def gather_parameters(drafts: Sequence[Draft]) -> Parameters:
    """Everything that a parametersRef of the input leads to."""
    parameters = Parameters()
    wanted = {(each.text_at("kind"), each.text_at("name")) for draft in drafts for each in _references(draft)}
    for draft in drafts:
        origin = draft.tree.find("generatedFrom")
        if origin is not None:
            parameters.generated[origin.text_at("kind"), draft.namespace, origin.text_at("name")] = draft
        if (draft.kind, draft.name) in wanted:
            parameters.by_name[draft.kind, draft.namespace, draft.name] = draft
    return parameters


def _references(draft: Draft) -> Iterator[Tree]:
    for way in ((), ("spec",), ("spec", "spec")):
        reference = draft.tree.find(*way, "parametersRef")
        if reference is not None:
            yield reference
