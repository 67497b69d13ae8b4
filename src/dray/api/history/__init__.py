"""What DRA's API once was: kinds and versions that no server has any more, but manifests still do."""
