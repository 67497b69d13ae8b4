"""Patches and server-side apply, on plain JSON values.

Everything here is a function of values: objects are what `json.loads` returns, a `Schema` says how their types merge,
times are passed in. `dray.merge.apply` merges what a manager applies and keeps `metadata.managedFields`;
`jsonpatch`, `mergepatch` and `strategic` are the three other kinds of patches. Nothing changes its arguments.
"""
