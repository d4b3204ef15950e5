-- A database of version 5, which had no checkpoints and no index of leases: a session whose lease is held until the
-- year 2100, one whose lease has expired, one whose lease was released, and one that never had a lease.
BEGIN TRANSACTION;
CREATE TABLE sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  parent INTEGER REFERENCES sessions(id),
  shared INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  lease_token TEXT,
  lease_owner TEXT,
  lease_until_ms INTEGER,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
INSERT INTO sessions VALUES(1,'default','held',NULL,0,0,1763200000000,NULL,'token-1','the owner',4102444800000);
INSERT INTO sessions VALUES(2,'default','expired',NULL,0,0,1763200000000,NULL,'token-2','another',1763200000000);
INSERT INTO sessions VALUES(3,'default','released',NULL,0,0,1763200000000,NULL,'','',0);
INSERT INTO sessions VALUES(4,'default','free',NULL,0,0,1763200000000,NULL,NULL,NULL,NULL);
CREATE UNIQUE INDEX sessions_by_name ON sessions(tenant, name) WHERE removed = 0;
CREATE INDEX sessions_by_parent ON sessions(parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_expiry ON sessions(expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE records(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions(id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  dialect TEXT NOT NULL,
  message_id TEXT NOT NULL,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  batch TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  media INTEGER NOT NULL,
  body BLOB NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_by_position ON records(session, position);
INSERT INTO records VALUES(1,1,0,'message','parley','','user','','batch-1',1763200000000,-932820097533308488,0,X'706c756d73','plums');
CREATE TABLE batches(
  batch TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions(id),
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  PRIMARY KEY(batch, session)
) STRICT, WITHOUT ROWID;
INSERT INTO batches VALUES('batch-1',1,0,1,-932820097533308488);
CREATE TABLE media(
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  hash BLOB NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE(tenant, hash)
) STRICT;
CREATE TABLE record_media(
  record INTEGER NOT NULL REFERENCES records(id),
  offset INTEGER NOT NULL,
  place INTEGER NOT NULL,
  media INTEGER NOT NULL REFERENCES media(id),
  PRIMARY KEY(record, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_media_by_media ON record_media(media);
CREATE VIRTUAL TABLE records_fts USING fts5(
  text, content="records", content_rowid="id", tokenize="unicode61 remove_diacritics 0");
INSERT INTO records_fts(rowid, text) VALUES (1, ' plums ');
CREATE TABLE indexed(last_record INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES(1);
CREATE VIEW messages AS
  SELECT s.tenant, s.name AS session, r.position, r.role, r.name, r.text,
         strftime('%Y-%m-%dT%H:%M:%fZ', r.created_ms / 1000.0, 'unixepoch') AS created_at, r.dialect,
         CAST(r.body AS TEXT) AS body
  FROM records r JOIN sessions s ON s.id = r.session WHERE r.kind = 'message';
CREATE TABLE store(id INTEGER NOT NULL, base INTEGER NOT NULL) STRICT;
INSERT INTO store VALUES(1727062158522021600,1);
PRAGMA application_id = 1348563564;
PRAGMA user_version = 5;
COMMIT;
