/** The tables of records, logs, leases, changes and instances, and of the id of the server. */
import type { Migration } from "./migrations.ts";

export const stateMigrations: readonly Migration[] = [
  {
    area: "state",
    number: 1,
    title: "create the tables of records, logs, leases, changes and instances",
    statements: [
      // No longer used: versions of records are random.
      "create sequence record_versions",
      // json and not jsonb, which refuses some texts of JSON.
      `create table records (
        kind text collate "C" not null, key text collate "C" not null, value json not null, version bigint not null,
        expires timestamptz, primary key (kind, key))`,
      "create index records_by_expiry on records (expires) where expires is not null",
      `create table logs (
        log text collate "C" not null, number bigint generated always as identity, value json not null,
        at timestamptz not null default clock_timestamp(), primary key (log, number))`,
      "create table leases (name text primary key, holder text not null, fence bigint not null, expires timestamptz not null)",
      "create table topics (topic text primary key, last bigint not null, fence bigint not null)",
      `create table changes (
        topic text not null, seq bigint not null, fence bigint not null, body text not null,
        at timestamptz not null default clock_timestamp(), primary key (topic, seq))`,
      "create index changes_by_time on changes (at)",
      `create table instances (
        id text primary key, host text not null, address text, version text not null, config text,
        started timestamptz not null default clock_timestamp(), seen timestamptz not null default clock_timestamp())`,
    ],
  },
  {
    area: "state",
    number: 2,
    title: "create the table of the server's id",
    statements: [
      // Not a record: a backup that is restored elsewhere makes another server.
      "create table server (id uuid not null)",
      "insert into server values (gen_random_uuid())",
    ],
  },
];
