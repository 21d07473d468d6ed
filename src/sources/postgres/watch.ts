/** Detects changes in the database: definitions by polling the catalogue, rows by notifications on a channel. */
import { unavailable } from "../../errors.ts";
import type { SourceChange, Runtime } from "../../source.ts";
import { type AllowList, parseTableRef, type TableRef } from "../../backends/sql/allow-list.ts";
import { isRepresentable } from "../../backends/sql/segments.ts";
import type { ChangeDetector } from "../../backends/shared-watch.ts";
import type { PostgresConnection, PostgresSession } from "./connection.ts";
import { postgresPath, type PostgresAddress } from "./addresses.ts";
import { otherDigests, tableDigests } from "./digests.ts";
import { mayServe, readsOf } from "./view-reads.ts";

interface PostgresWatchOptions {
  readonly connection: Pick<PostgresConnection, "attach" | "toError">;
  readonly allow: AllowList;
  readonly hasFunctions: boolean;
  readonly channel?: string;
  readonly pollMs: number;
  readonly wait: Runtime["wait"];
}

/** Everything that can appear, disappear or change, by path, with a digest of its description. */
type Snapshot = ReadonlyMap<string, { readonly place: PostgresAddress; readonly digest: string }>;

/** Catalogues that describe what is served. System objects have lower ids. */
const catalogues = [
  ["pg_class", "oid"],
  ["pg_attribute", "attrelid"],
  ["pg_attrdef", "adrelid"],
  ["pg_constraint", "oid"],
  ["pg_index", "indexrelid"],
  ["pg_rewrite", "ev_class"],
  ["pg_type", "oid"],
  ["pg_enum", "enumtypid"],
  ["pg_range", "rngtypid"],
  ["pg_trigger", "oid"],
  ["pg_policy", "oid"],
  ["pg_statistic_ext", "oid"],
  ["pg_inherits", "inhrelid"],
  ["pg_sequence", "seqrelid"],
  ["pg_proc", "oid"],
  ["pg_description", "objoid"],
] as const;

/** Changes whenever a catalogue row changes: each row carries its last writer. Takes a few milliseconds. */
const fingerprint = `SELECT concat_ws(',', ${[
  ...catalogues.map(
    ([name, oid]) =>
      `(SELECT count(*) || ':' || coalesce(sum(hashtextextended(ctid::text || xmin::text, 0)), 0) FROM ${name} WHERE ${oid} >= 16384)`,
  ),
  "(SELECT count(*) || ':' || coalesce(sum(hashtextextended(ctid::text || xmin::text, 0)), 0) FROM pg_namespace)",
].join(", ")}) AS fingerprint`;

export function createPostgresWatch({ connection, allow, hasFunctions, channel, pollMs, wait }: PostgresWatchOptions) {
  async function look(session: PostgresSession): Promise<{ readonly fingerprint: string; readonly seen: Snapshot }> {
    // First, so that changes made during the scan are seen by the next one.
    const before = await fingerprintOf(session);
    const seen = new Map<string, { place: PostgresAddress; digest: string }>();
    const add = (place: PostgresAddress, digest: string) => void seen.set(postgresPath(place), { place, digest });
    for (const row of await session.query({ text: otherDigests })) {
      const { schema, kind, name, digest } = row as Readonly<Record<string, string>>;
      if (!allow.schema(schema!) || !isRepresentable(schema!)) continue;
      if (kind === "schema") add({ kind, schema: schema! }, digest!);
      else if (kind === "types") add({ kind, schema: schema! }, digest!);
      else if (hasFunctions && isRepresentable(name!)) add({ kind: "function", schema: schema!, name: name! }, digest!);
    }
    for (const row of await session.query({ text: tableDigests(allow) })) {
      const { schema, name, digest } = row as Readonly<Record<string, string>>;
      if (!isRepresentable(name!) || !isRepresentable(schema!)) continue;
      if (!mayServe({ schema: schema!, table: name! }, row["letter"], readsOf(row), allow)) continue;
      add({ kind: "table", schema: schema!, name: name! }, digest!);
    }
    return { fingerprint: before, seen };
  }

  /** The rows that a notification names: `table`, `schema.table`, or JSON with `table` and optionally `schema`. */
  function heard(payload: string, seen: Snapshot | undefined): readonly SourceChange[] {
    if (payload === "") return [{ kind: "lost" }];
    const ref = refOf(payload);
    if (ref === undefined || !allow.rows(ref)) return [];
    // If tables are excluded, a view may be too, without its name showing it.
    const isKnown = seen?.has(postgresPath({ kind: "table", schema: ref.schema, name: ref.table })) ?? false;
    if (allow.restricts.tables && !isKnown) return [];
    return [{ kind: "changed", path: postgresPath({ kind: "rows", schema: ref.schema, name: ref.table }) }];
  }

  return async function detectChanges({ armed, tell, signal }: ChangeDetector): Promise<void> {
    const session = await connection.attach(signal);
    const leave = (): void => void session.end();
    signal.addEventListener("abort", leave, { once: true });
    try {
      if (signal.aborted) return;
      // Before the first scan, so that no change is missed.
      let last: Awaited<ReturnType<typeof look>> | undefined;
      if (channel !== undefined) await session.listen(channel, (payload) => tell(heard(payload, last?.seen)));
      last = await look(session);
      armed();
      const broken = session.over.then((cause) => {
        throw cause === undefined ? unavailable("the database closed the connection") : cause;
      });
      broken.catch(() => undefined);
      while (!signal.aborted) {
        await Promise.race([wait(pollMs, signal), broken]);
        if ((await Promise.race([fingerprintOf(session), broken])) === last.fingerprint) continue;
        const next = await look(session);
        const changes = changesBetween(last.seen, next.seen, allow);
        last = next;
        if (changes.length > 0) tell(changes);
      }
    } catch (cause) {
      if (!signal.aborted) throw connection.toError(cause);
    } finally {
      signal.removeEventListener("abort", leave);
      await session.end();
    }
  };
}

async function fingerprintOf(session: PostgresSession): Promise<string> {
  const [row] = await session.query({ text: fingerprint });
  return String(row?.["fingerprint"]);
}

function changesBetween(before: Snapshot, after: Snapshot, allow: AllowList): SourceChange[] {
  const changes: SourceChange[] = [];
  /** Schemas in which anything changed. */
  const touched = new Set<string>();
  const add = (kind: "appeared" | "gone" | "changed", place: PostgresAddress) =>
    void changes.push({ kind, path: postgresPath(place) });
  const all = new Set([...before.keys(), ...after.keys()]);
  for (const path of all) {
    const [old, now] = [before.get(path), after.get(path)];
    if (old?.digest === now?.digest) continue;
    const { place } = (now ?? old)!;
    const kind = old === undefined ? "appeared" : now === undefined ? "gone" : "changed";
    if ("schema" in place) touched.add(place.schema);
    if (place.kind === "schema") {
      if (kind !== "changed") {
        add(kind, place);
        add(kind, { kind: "overview", schema: place.schema });
      }
    } else if (place.kind === "table") {
      const { schema, name } = place;
      if (kind !== "changed") add(kind, place);
      add(kind, { kind: "definition", schema, name });
      if (allow.rows({ schema, table: name })) add(kind, { kind: "rows", schema, name });
    } else add(kind, place);
  }
  for (const schema of touched)
    if (before.has(postgresPath({ kind: "schema", schema })) && after.has(postgresPath({ kind: "schema", schema })))
      add("changed", { kind: "overview", schema });
  return changes;
}

function refOf(payload: string): TableRef | undefined {
  if (!payload.startsWith("{")) return parseTableRef(payload);
  try {
    const { schema = "public", table } = JSON.parse(payload) as { readonly schema?: unknown; readonly table?: unknown };
    return typeof schema === "string" && typeof table === "string" ? { schema, table } : undefined;
  } catch {
    return undefined;
  }
}
