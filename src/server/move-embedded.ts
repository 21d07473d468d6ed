/** Copies what a single server has stored on this machine into the shared state. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { oauthKey, oauthKind } from "../auth/builtin/shared-oauth-store.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "../state/database.ts";
import { moveLog } from "../state/move-log.ts";
import { moveRecord } from "../state/move-record.ts";
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
}

/** Can be repeated: what is in the shared state is never replaced. The files stay. */
export async function moveEmbedded(options: MoveOptions): Promise<readonly MovedState[]> {
  const { store, database } = options;
  const { tokens, sets, cursorKey: key, signIns } = readEmbedded(options);
  const isNew = { ifVersion: undefined };

  return [
    await copied("tokens", tokens, (token) =>
      moveRecord(database, tokenKind, { key: token.id, value: withoutUndefined(token) }),
    ),
    await copied("sets", sets, (set) => moveRecord(database, setKind, { key: setKey(set), value: toSetRecord(set) })),
    await copied("cursor key", key ? [key] : [], async (each) =>
      Boolean(await store.put(keyKind, cursorKeyName, { key: Buffer.from(each).toString("base64") }, isNew)),
    ),
    await copied("sign-ins", signIns ? [signIns] : [], async (each) =>
      Boolean(await store.put(oauthKind, oauthKey, { ...each }, isNew)),
    ),
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
  return { what, moved, present: all.length - moved };
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
  return { what: "audit entries", moved, present: total - moved };
}

function withoutUndefined(value: object): RecordValue {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}
