/** Documents in and out of an index. Called within a transaction. */
import type { Entry } from "../source.ts";
import { spellQuery, toKey } from "./address-key.ts";
import type { Index } from "./find-passages.ts";
import { fold } from "./fold.ts";
import { formatOf, isGarbled, languageOf } from "./format.ts";
import { passagesOf } from "./passages.ts";
import { body, createPostings, heading, path, title } from "./postings.ts";
import { shortLength, type Kept } from "./segments.ts";
import type { Document } from "./store.ts";
import { scan } from "./tokens.ts";

/** So much is collected in memory before it is written. */
const maxPlaces = 1_500_000;

/** Each address at most once. */
export function putDocuments(index: Index, documents: Iterable<Document>): void {
  const { database, segments, texts } = index;
  const counter = database.prepare("select value from counters where name = 'passage'");
  const insert = database.prepare(`
    insert into documents (id, mount, key, query, version, mime, lang, modified, priority, passages, embedded)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const atAddress = database.prepare("select id, passages from documents where mount = ? and key = ? and query = ?");
  const mountIds = new Map<string, number>();
  let next = counter.get()!["value"] as number;
  let postings = createPostings();
  let kept: Kept[] = [];
  let lengths: number[] = [];
  const write = (): void => {
    segments.write(kept, lengths, postings.each);
    postings = createPostings();
    kept = [];
    lengths = [];
  };

  for (const { mount, entry, text } of documents) {
    const mountId = mountIds.get(mount) ?? idOfMount(index, mount);
    mountIds.set(mount, mountId);
    const key = toKey(entry.path);
    const query = spellQuery(entry.query);
    const before = atAddress.get(mountId, key, query) as Kept | undefined;
    if (before) dropDocument(index, before);

    const format = formatOf(entry.path, entry.mimeType);
    const isText = !isGarbled(text);
    const passages = passagesOf(isText ? text : "", format);
    const id = next;
    next += passages.length;
    insert.run(
      id,
      mountId,
      key,
      query,
      entry.version ?? null,
      entry.mimeType ?? null,
      isText ? languageOf(text, format) : "",
      timeOf(entry),
      entry.annotations?.priority ?? null,
      passages.length,
      passages[0]!.to === 0 ? 1 : 0,
    );
    texts.put(id, entry, text, passages);

    const document = kept.length;
    collect(entry.title ?? entry.name ?? "", title, document);
    collect([entry.path, ...Object.values(entry.query ?? {})].join(" "), path, document);
    passages.forEach((passage, at) => {
      collect(at === 0 ? `${passage.heading} ${entry.description ?? ""}` : passage.heading, heading, lengths.length);
      lengths.push(shortLength(collect(text.slice(passage.from, passage.to), body, lengths.length)));
    });
    kept.push({ id, passages: passages.length });
    if (postings.size > maxPlaces) write();
  }
  write();
  database.prepare("update counters set value = ? where name = 'passage'").run(next);

  function collect(piece: string, field: number, ordinal: number): number {
    let tokens = 0;
    if (piece === "" || piece === " ") return 0;
    scan(fold(piece), (term, kind) => {
      if (kind !== "whole") tokens += 1;
      postings.add(term, field, ordinal);
    });
    return tokens;
  }
}

export function dropDocument({ database, segments, texts, vectors }: Index, document: Kept): void {
  database.prepare("delete from documents where id = ?").run(document.id);
  texts.remove(document.id, document.passages);
  vectors.remove(document.id, document.id + document.passages - 1);
  segments.bury(document);
}

function idOfMount({ database }: Index, name: string): number {
  database.prepare("insert into mounts (name) values (?) on conflict do nothing").run(name);
  return database.prepare("select id from mounts where name = ?").get(name)!["id"] as number;
}

function timeOf({ annotations }: Entry): number | null {
  const time = Date.parse(annotations?.lastModified ?? "");
  return Number.isNaN(time) ? null : time;
}
