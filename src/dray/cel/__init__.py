"""CEL for devices: text to program to value, as Kubernetes evaluates it.

The CEL project's own library parses; checking, cost and evaluation are ours, because Kubernetes' verdicts, texts and
costs are those of another implementation (docs/adr/0006). Callers need `dray.cel.program` and `dray.cel.judge`.
"""
