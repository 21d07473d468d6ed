#!/bin/sh
# Runs once, when the database is created: a role that can read everything and change nothing.
set -eu
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
  --set=password="$(cat "${DATABASE_PASSWORD_FILE:-/run/secrets/database_password}")" <<'SQL'
CREATE ROLE pressmark LOGIN PASSWORD :'password';
GRANT pg_read_all_data TO pressmark;
SQL
