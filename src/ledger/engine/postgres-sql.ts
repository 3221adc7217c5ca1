/** Statements for PostgreSQL 15 or newer. All values are parameters; the one database of a shard has the schema `didledger`. */

/** One who fills a shard holds this advisory lock, so that no two do. */
export const loadLock = '431264890881'

const options = 'fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_limit = 2000'

/** Table of the shard's state. A schema that is there is not asked for: that takes the right to make one, which its owner may lack. */
export const createShard = `
DO $$ BEGIN
  IF to_regnamespace('didledger') IS NULL THEN
    CREATE SCHEMA didledger;
  END IF;
END $$;
CREATE TABLE IF NOT EXISTS didledger.shard (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  format   smallint NOT NULL CHECK (format = 1),
  layout   smallint NOT NULL,
  chain    bytea NOT NULL CHECK (length(chain) = 32),
  number   smallint NOT NULL,
  shards   smallint NOT NULL CHECK (number >= 0 AND number < shards),
  swept    smallint NOT NULL CHECK (swept <= shards),
  stream   uuid NOT NULL,
  epoch    bigint NOT NULL,
  sequence bigint NOT NULL,
  digest   bytea NOT NULL CHECK (length(digest) = 32),
  height   bigint NOT NULL,
  hash     bytea NOT NULL CHECK (length(hash) = 32),
  time     bigint NOT NULL,
  written  timestamptz NOT NULL
)`

/**
 * Table that is filled beside the one that is read. Rows do not compress well, and to take them apart costs the processor of the shard:
 * values are stored as they are.
 */
export const createRows = `
DROP TABLE IF EXISTS didledger.row_new;
CREATE TABLE didledger.row_new (k bytea NOT NULL, v bytea NOT NULL) WITH (${options});
ALTER TABLE didledger.row_new ALTER COLUMN k SET STORAGE PLAIN, ALTER COLUMN v SET STORAGE EXTERNAL`

/** FREEZE: no later pass has to write the rows again, since nothing sees the table before its transaction ends. */
export const copyIntoRows = 'COPY didledger.row_new (k, v) FROM STDIN (FORMAT binary, FREEZE)'

export const indexRows = 'ALTER TABLE didledger.row_new ADD CONSTRAINT row_new_key PRIMARY KEY (k)'

/** Puts the filled table in the place of the old one; who may read it is the role didledger_read, where there is one. */
export const replaceRows = `
DROP TABLE IF EXISTS didledger.row;
ALTER TABLE didledger.row_new RENAME CONSTRAINT row_new_key TO row_key;
ALTER TABLE didledger.row_new RENAME TO row;
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'didledger_read') THEN
    GRANT USAGE ON SCHEMA didledger TO didledger_read;
    GRANT SELECT ON ALL TABLES IN SCHEMA didledger TO didledger_read;
  END IF;
END $$;
DELETE FROM didledger.shard`

export const insertState = `
INSERT INTO didledger.shard
  (format, layout, chain, number, shards, swept, stream, epoch, sequence, digest, height, hash, time, written)
VALUES (1, $1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp())`

const state = `json_build_object(
  'layout', layout, 'chain', encode(chain, 'hex'), 'number', number, 'shards', shards, 'swept', swept,
  'stream', stream, 'epoch', epoch, 'sequence', sequence, 'digest', encode(digest, 'hex'),
  'height', height, 'hash', encode(hash, 'hex'), 'time', time,
  'written', floor(extract(epoch FROM written) * 1000), 'now', floor(extract(epoch FROM clock_timestamp()) * 1000),
  'isReplica', pg_is_in_recovery())::text`

export const readState = `SELECT ${state} FROM didledger.shard`

/** All rows of a question and the state, which are of one snapshot, since a statement has one. Part -1 is the state, 0 the keys. */
export const readRows = `
SELECT -1, NULL::bytea, convert_to(${state}, 'UTF8') FROM didledger.shard
UNION ALL
SELECT 0, k, v FROM didledger.row WHERE k = ANY ($1::bytea[])
UNION ALL
SELECT range.part, found.k, found.v
  FROM unnest($2::int[], $3::bytea[], $4::bytea[], $5::int[], $6::bigint[]) AS range (part, gte, lt, most, bytes),
  LATERAL (
    SELECT k, v FROM (
      SELECT k, v, sum(length(v)) OVER (ORDER BY k) - length(v) AS before
        FROM (SELECT k, v FROM didledger.row WHERE k >= gte AND k < lt ORDER BY k LIMIT most) AS candidates
    ) AS counted WHERE before < bytes
  ) AS found
UNION ALL
SELECT range.part, found.k, found.v
  FROM unnest($7::int[], $8::bytea[], $9::bytea[], $10::int[], $11::bigint[]) AS range (part, gte, lt, most, bytes),
  LATERAL (
    SELECT k, v FROM (
      SELECT k, v, sum(length(v)) OVER (ORDER BY k DESC) - length(v) AS before
        FROM (SELECT k, v FROM didledger.row WHERE k >= gte AND k < lt ORDER BY k DESC LIMIT most) AS candidates
    ) AS counted WHERE before < bytes
  ) AS found`

/** Moves the state from one batch to another, and to another part of the rows; no row is hit where the shard is not there or another one writes. */
export const moveState = `
UPDATE didledger.shard
  SET stream = $1, sequence = $2, digest = $3, height = $4, hash = $5, time = $6, written = clock_timestamp(),
    number = $11, shards = $12
  WHERE epoch = $7 AND stream = $8 AND sequence = $9 AND digest = $10`

export const putRows = `
INSERT INTO didledger.row SELECT * FROM unnest($1::bytea[], $2::bytea[])
  ON CONFLICT (k) DO UPDATE SET v = excluded.v`

export const deleteRows = 'DELETE FROM didledger.row WHERE k = ANY ($1::bytea[])'

/** Keeps a shard from being filled or moved until the transaction ends; no row is hit where it has another part or another epoch. */
export const holdState = 'SELECT 1 FROM didledger.shard WHERE epoch = $1 AND number = $2 AND shards = $3 FOR UPDATE'

export const keysFrom = 'SELECT k FROM didledger.row WHERE k >= $1 ORDER BY k LIMIT $2'

export const markSwept = 'UPDATE didledger.shard SET swept = shards'

/** Listeners get it when the transaction is over. */
export const notify = 'NOTIFY didledger'
