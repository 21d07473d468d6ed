/** The tables of the shared search index. */
import type { Migration } from "../../state/migrations.ts";

/**
 * An expression that changes when an older state of the index may have been restored: the database was started again, or another one took over, or
 * the table was created again. After that, the same ids can belong to other documents and terms.
 */
export const indexIdentity = `(extract(epoch from pg_postmaster_start_time()) || ' ' || pg_relation_filenode('search_about'))`;

export const searchMigrations: readonly Migration[] = [
  {
    area: "search",
    number: 1,
    title: "create the tables of the search index",
    statements: [
      // One row. Every writer locks it first: ids of documents are committed in their order.
      "create table search_about (version text not null, last_document integer not null)",
      "insert into search_about values ('', 0)",
      "create table search_notes (name text primary key, value text not null)",
      `create table search_mounts (
        id integer generated always as identity primary key, name text collate "C" not null unique,
        documents integer not null default 0, passages integer not null default 0, tokens double precision not null default 0,
        changes bigint not null default 0)`,
      // "head" is the beginning of the key, because an index takes no long values.
      `create table search_documents (
        id integer primary key, mount integer not null, head bytea not null, key bytea not null, query text not null, version text,
        reveals text, path text not null, mime text not null, lang text not null, modified double precision, priority double precision,
        passages integer not null, tokens double precision not null, entry bytea not null)`,
      "create index search_documents_by_address on search_documents (mount, head)",
      `create table search_terms (id integer generated always as identity primary key, term bytea not null unique)`,
      // Number of passages with an element, which is a term with the fields and the level of its occurrence.
      `create table search_frequencies (element integer, mount integer, passages integer not null, primary key (element, mount))
        with (fillfactor = 70)`,
      "create index search_frequencies_unused on search_frequencies (mount) where passages <= 0",
      // A partition for each mount.
      `create table search_passages (
        mount integer not null, document integer not null, ordinal integer not null, siblings integer not null,
        elements integer[] not null, postings bytea not null, content bytea not null, primary key (document, ordinal, mount))
        partition by list (mount)`,
      "create index search_passages_by_element on search_passages using gin (elements)",
    ],
  },
  {
    area: "search",
    number: 2,
    title: "create the table of removed mounts",
    // Ids of mounts that are no longer in the index, and whose documents and frequencies are not all deleted yet.
    statements: ["create table search_removed (id integer primary key)"],
  },
  {
    area: "search",
    number: 3,
    title: "let ids of terms be used again",
    statements: [
      // Ids that no term has, once all have been given out.
      "create table search_free_terms (id integer primary key)",
      // "terms_freed" changes when an id may belong to another term; "terms_checked" is when too few unused ids were found.
      "alter table search_about add column terms_freed integer not null default 0, add column terms_checked timestamptz",
    ],
  },
];
