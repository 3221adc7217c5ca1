#!/bin/sh
# The image runs this once, when the primary has no data yet: roles, who may copy it, and how long a commit waits for the replica.
set -e
psql -v ON_ERROR_STOP=1 -U postgres -d didledger <<'SQL'
CREATE ROLE didledger LOGIN;
GRANT CREATE ON DATABASE didledger TO didledger;
CREATE ROLE didledger_read LOGIN;
CREATE ROLE replicator LOGIN REPLICATION;
-- In force from the next start on: no replica answers the one that runs this, and a commit would wait for it.
ALTER SYSTEM SET synchronous_commit = 'remote_write';
ALTER SYSTEM SET synchronous_standby_names = 'replica';
-- What a replica that was stopped for a while still finds.
ALTER SYSTEM SET wal_keep_size = '1GB';
SQL
# The lines of the image are for databases, which replication is not.
echo 'host replication replicator all trust' >> "$PGDATA/pg_hba.conf"
