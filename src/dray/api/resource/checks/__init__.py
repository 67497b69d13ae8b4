"""What the API server refuses in the kinds of `resource.k8s.io`, and in which words.

One module a kind has the tuples `create_checks`, `update_checks` and `status_checks` that its `Kind` takes; the other
modules have one topic each. `inspect_` functions walk a part of an object and put its faults into a `Report`; `check_`
functions return them.
"""
