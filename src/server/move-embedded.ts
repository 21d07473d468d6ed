/** Copies what a single server has stored on this machine into the shared state. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { emptyState, type OAuthState } from "../auth/builtin/oauth-store.ts";
import { addSignIns, oauthKey, oauthKind } from "../auth/builtin/shared-oauth-store.ts";
import { quote } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "../state/database.ts";
import { moveLog } from "../state/move-log.ts";
import { mergeRecord, moveRecord } from "../state/move-record.ts";
import type { RecordValue, Store } from "../state/store.ts";
import { auditFolder, readAuditLog } from "./audit-log.ts";
import { cursorKeyName, keyKind } from "./cursor-key.ts";
import { readEmbedded } from "./embedded-state.ts";
import { setKey, setKind, toSetRecord } from "./sets/shared-sets.ts";
import { auditName } from "./shared-audit-log.ts";
import { tokenKind } from "./shared-token-store.ts";

interface MoveOptions {
  readonly store: Store;
  readonly database: SharedDatabase;
  readonly stateFolder: string;
  /** The config's file, without links. */
  readonly config: string;
  readonly runtime: Runtime;
}

export interface MovedState {
  readonly what: "tokens" | "sets" | "cursor key" | "sign-ins" | "audit entries";
  /** Copied now. */
  readonly moved: number;
  /** Left, because the shared state has one of the same name, or had one from an earlier run. */
  readonly present: number;
  /** One sentence for everything that was not copied, with the reason. */
  readonly leftOut: readonly string[];
}

/** Can be repeated: what is in the shared state is never replaced. The files stay. */
export async function moveEmbedded(options: MoveOptions): Promise<readonly MovedState[]> {
  const { database } = options;
  const { tokens, sets, cursorKey: key, signIns } = readEmbedded(options);

  return [
    await copied("tokens", tokens, (token) =>
      moveRecord(database, tokenKind, { key: token.id, value: withoutUndefined(token) }),
    ),
    await copied("sets", sets, (set) => moveRecord(database, setKind, { key: setKey(set), value: toSetRecord(set) })),
    key ? await moveCursorKey(options, key) : nothing("cursor key"),
    signIns ? await moveSignIns(options, signIns) : nothing("sign-ins"),
    await moveAudit(options),
  ];
}

async function copied<T>(
  what: MovedState["what"],
  all: readonly T[],
  copy: (each: T) => Promise<boolean>,
): Promise<MovedState> {
  let moved = 0;
  for (const each of all) if (await copy(each)) moved += 1;
  return { ...nothing(what), moved, present: all.length - moved };
}

function nothing(what: MovedState["what"]): MovedState {
  return { what, moved: 0, present: 0, leftOut: [] };
}

/** An instance that was started before has created one. */
async function moveCursorKey({ store }: MoveOptions, bytes: Uint8Array): Promise<MovedState> {
  const none = nothing("cursor key");
  const key = Buffer.from(bytes).toString("base64");
  if (await store.put(keyKind, cursorKeyName, { key }, { ifVersion: undefined })) return { ...none, moved: 1 };
  if ((await store.get(keyKind, cursorKeyName))?.value["key"] === key) return { ...none, present: 1 };
  const reason =
    "left out, because the shared state has another, with which instances sign; clients that read a list page by page begin it again";
  return { ...none, leftOut: [reason] };
}

async function moveSignIns({ database, runtime }: MoveOptions, signIns: OAuthState): Promise<MovedState> {
  const { value, isChanged } = await mergeRecord(database, oauthKind, oauthKey, (present) =>
    addSignIns(present, signIns),
  );
  return {
    ...nothing("sign-ins"),
    moved: isChanged ? 1 : 0,
    present: isChanged ? 0 : 1,
    leftOut: leftOutOf(signIns, { ...emptyState(), ...value }, runtime.now()),
  };
}

function leftOutOf(signIns: OAuthState, shared: OAuthState, nowMs: number): string[] {
  const isThere = (name: string): boolean => Object.hasOwn(shared.passwords, name);
  const names = Object.keys(signIns.passwords).sort();
  const other = names.filter(
    (name) => isThere(name) && !isDeepStrictEqual(shared.passwords[name], signIns.passwords[name]),
  );
  const absent = names.filter((name) => !isThere(name));
  const clients = Object.entries(signIns.grants).filter(
    ([id, { expires }]) => expires > nowMs && !Object.hasOwn(shared.grants, id),
  ).length;
  const advice = "to set one, run: pressmark token password NAME";
  const isOne = clients === 1;
  return [
    other.length > 0 && `left out the passwords of ${listed(other)}, because the shared state has others; ${advice}`,
    absent.length > 0 &&
      `left out the passwords of ${listed(absent)}, because they were revoked in the shared state, or set here after the first copy; ${advice}`,
    clients > 0 &&
      `left out ${clients} connected ${isOne ? "client" : "clients"}, because ${isOne ? "it was" : "they were"} revoked in the shared state, or connected here after the first copy; ${isOne ? "its caller connects it again" : "their callers connect them again"}`,
  ].filter((sentence) => sentence !== false);
}

function listed(names: readonly string[]): string {
  return names.map((name) => quote(name)).join(", ");
}

async function moveAudit({ database, stateFolder, config }: MoveOptions): Promise<MovedState> {
  // In a container the host name is another one on each run: `moveLog` then compares the entries.
  const origin = createHash("sha256").update(`${hostname()} ${config}`).digest("hex").slice(0, 32);
  let total = 0;
  async function* entries() {
    total = 0;
    for await (const entry of readAuditLog(auditFolder(stateFolder, config))) {
      total += 1;
      yield { ...entry };
    }
  }
  const moved = await moveLog(database, auditName, origin, entries);
  return { ...nothing("audit entries"), moved, present: total - moved };
}

function withoutUndefined(value: object): RecordValue {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}
