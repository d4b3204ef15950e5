-- A database of version 3, in which a record's id was its session's id times 2^32 plus its position: two sessions, a
-- fork that shares two records, an image, and a record ("cherries") that is not in the index of words yet.
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
INSERT INTO sessions VALUES(1,'default','talk',NULL,0,0,1763200000000,NULL,NULL,NULL,NULL);
INSERT INTO sessions VALUES(2,'default','other',NULL,0,0,1763200000000,NULL,NULL,NULL,NULL);
INSERT INTO sessions VALUES(3,'default','fork',1,2,0,1763200000000,NULL,NULL,NULL,NULL);
CREATE TABLE records(
  id INTEGER PRIMARY KEY,
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
  text TEXT NOT NULL,
  session INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL REFERENCES sessions(id),
  position INTEGER GENERATED ALWAYS AS (id & 4294967295) VIRTUAL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
INSERT INTO records VALUES(4294967296,'message','parley','','user','','batch-1',1763200000000,6086338900670110569,0,X'6170706c6573','apples');
INSERT INTO records VALUES(4294967297,'message','parley','','user','','batch-1',1763200000000,1414512826532533977,1,X'3c3e','an image');
INSERT INTO records VALUES(4294967298,'message','parley','','user','','batch-3',1763200000000,-932820097533308488,0,X'706c756d73','plums');
INSERT INTO records VALUES(8589934592,'message','parley','','user','','batch-2',1763200000000,8978522736148150862,0,X'7065617273','pears');
INSERT INTO records VALUES(8589934593,'message','parley','','user','','batch-5',1763200000000,-6222761492633210301,0,X'6368657272696573','cherries');
INSERT INTO records VALUES(12884901890,'message','parley','','user','','batch-4',1763200000000,-1184492870800664051,0,X'6170706c657320616761696e','apples again');
CREATE TABLE batches(
  session INTEGER NOT NULL REFERENCES sessions(id),
  batch TEXT NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  PRIMARY KEY(session, batch)
) STRICT, WITHOUT ROWID;
INSERT INTO batches VALUES(1,'batch-1',0,2,5623578010210445456);
INSERT INTO batches VALUES(1,'batch-3',2,1,-932820097533308488);
INSERT INTO batches VALUES(2,'batch-2',0,1,8978522736148150862);
INSERT INTO batches VALUES(2,'batch-5',1,1,-6222761492633210301);
INSERT INTO batches VALUES(3,'batch-4',2,1,-1184492870800664051);
CREATE TABLE media(
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  hash BLOB NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE(tenant, hash)
) STRICT;
INSERT INTO media VALUES(1,'default',X'6896d9ea3f73a4434f5832bc65714e7d066f177373f36f34dc8a6f735daa41b1',CAST(replace(hex(zeroblob(2048)), '0', 'A') AS BLOB));
CREATE TABLE record_media(
  record INTEGER NOT NULL REFERENCES records(id),
  offset INTEGER NOT NULL,
  place INTEGER NOT NULL,
  media INTEGER NOT NULL REFERENCES media(id),
  PRIMARY KEY(record, place)
) STRICT, WITHOUT ROWID;
INSERT INTO record_media VALUES(4294967297,1,0,1);
CREATE VIRTUAL TABLE records_fts USING fts5(
  text, content="records", content_rowid="id", tokenize="unicode61 remove_diacritics 0");
INSERT INTO records_fts(rowid, text) VALUES
  (4294967296, ' apples '), (4294967297, ' an image '), (4294967298, ' plums '),
  (8589934592, ' pears '), (12884901890, ' apples again ');
CREATE TABLE indexed(session INTEGER PRIMARY KEY REFERENCES sessions(id), size INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES(1,3);
INSERT INTO indexed VALUES(2,1);
INSERT INTO indexed VALUES(3,3);
CREATE UNIQUE INDEX sessions_by_name ON sessions(tenant, name) WHERE removed = 0;
CREATE INDEX sessions_by_parent ON sessions(parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_expiry ON sessions(expires_ms) WHERE expires_ms IS NOT NULL;
CREATE VIEW messages AS
  SELECT s.tenant, s.name AS session, r.position, r.role, r.name, r.text, r.created_at, r.dialect,
         CAST(r.body AS TEXT) AS body
  FROM records r JOIN sessions s ON s.id = r.session WHERE r.kind = 'message';
CREATE INDEX record_media_by_media ON record_media(media);
PRAGMA application_id = 1348563564;
PRAGMA user_version = 3;
COMMIT;
