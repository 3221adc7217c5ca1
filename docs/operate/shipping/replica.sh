#!/bin/sh
# Entrypoint of the replica: copies the primary that PRIMARY names before its first start, and follows it from then on.
set -e
if [ ! -d "$PGDATA" ]; then
  # One that was interrupted is in the way.
  rm -rf "$PGDATA.part"
  until pg_basebackup -D "$PGDATA.part" -d "$PRIMARY" -R -X stream -c fast; do
    sleep 1
  done
  mv "$PGDATA.part" "$PGDATA"
fi
# It has the settings of the primary, but once it is promoted no other one confirms its commits.
exec postgres -c synchronous_standby_names= "$@"
