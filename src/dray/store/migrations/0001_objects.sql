-- The whole history in one table that only grows at its end: a row is one state of one object, or its removal.
-- What is superseded on both sides of the horizon is removed by compaction; nothing is ever changed in place.
-- The latest state is in memory (dray.store.latest), so that there is no index to keep up.
PRAGMA application_id = 0x64726179; -- "dray", by which a file is known as ours

CREATE TABLE states (
    since     INTEGER PRIMARY KEY, -- revision of the change that brought this state
    previous  INTEGER NOT NULL,    -- revision of the state it replaced; 0 if there was no object
    resource  TEXT NOT NULL,       -- plural and group
    namespace TEXT NOT NULL,       -- empty for objects of the cluster
    name      TEXT NOT NULL,
    stamp_at  INTEGER,             -- where in the body the revision stands, if anywhere
    indexed   TEXT,                -- index values as a JSON array of pairs; NULL for none
    body      BLOB,                -- NULL: the object was removed
    checksum  INTEGER NOT NULL     -- CRC-32 of all other columns: SQLite does not notice damage inside a value
) STRICT;

CREATE TABLE bounds (
    only     INTEGER PRIMARY KEY CHECK (only = 1),
    revision INTEGER NOT NULL, -- the newest at the last compaction: its row may be gone since
    horizon  INTEGER NOT NULL  -- history is complete after this revision
) STRICT;

INSERT INTO bounds VALUES (1, 1, 1);
