"""What people write: manifests of any version of DRA, read in spite of slips, judged, and rewritten for v1.

Everything here is a function of texts and of what is known of devices; files, clusters and printing are elsewhere.
"""
