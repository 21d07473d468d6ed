/** Tokens of named callers, in the state folder or shared by instances: only their hashes are stored. */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../errors.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { Runtime } from "../runtime.ts";

/** One token, as stored. */
export interface StoredToken {
  /** Names the token in lists and for `revoke`; it reveals nothing of the token. */
  readonly id: string;
  readonly caller: string;
  /** SHA-256 of the token. A token has 256 random bits, so a fast hash is enough. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Milliseconds since the epoch. Absent if it does not expire. */
  readonly expires?: number;
}

export interface TokenStore {
  /** The known tokens, without waiting. Throws "unavailable" if they cannot be read: a server must not run with fewer tokens than it has. */
  list(): readonly StoredToken[];
  /** Resolves when `list` has all tokens that were stored before the call. */
  load(): Promise<void>;
  /** False if a token may have been revoked unnoticed, because the store has not answered for some seconds. */
  isCurrent(): boolean;
  /** Stores a new token and returns it; it cannot be shown again. */
  create(caller: string, nowMs: number, expires?: number): Promise<StoredToken & { readonly token: string }>;
  /** Changes with the stored tokens. */
  stamp(): string;
  /** Removes the token with this id, or all tokens of this caller. Returns what was removed. */
  revoke(idOrCaller: string): Promise<readonly StoredToken[]>;
  /** Calls back when another process may have changed the tokens. Resolves when the signal is aborted. */
  follow(changed: () => void, runtime: Runtime, signal: AbortSignal): Promise<void>;
}

export interface FileTokenStore extends TokenStore {
  /** The file that holds the tokens, whether or not it exists. */
  readonly file: string;
}

const version = 1;
/** Begins every token that is created here. */
export const tokenPrefix = "pmk_";

/** Tokens belong to one config: two servers may both have a caller of the same name. */
export function createTokenStore(stateFolder: string, config: string): FileTokenStore {
  const folder = join(stateFolder, "tokens");
  const file = join(folder, `${sha256(config).slice(0, 32)}.json`);

  function list(): readonly StoredToken[] {
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw damaged(cause);
    }
    try {
      const stored = JSON.parse(text) as { version?: unknown; tokens?: unknown };
      if (stored.version !== version || !Array.isArray(stored.tokens) || !stored.tokens.every(isStoredToken))
        throw new Error("unknown format");
      return stored.tokens;
    } catch (cause) {
      throw damaged(cause);
    }
  }

  function damaged(cause: unknown): ResourceError {
    const message = `the tokens in ${JSON.stringify(file)} cannot be read; check its permissions, or remove it and create new tokens`;
    return new ResourceError("unavailable", message, { cause });
  }

  function change<T>(work: (tokens: readonly StoredToken[]) => readonly [readonly StoredToken[], T]): Promise<T> {
    return withFileLock(
      file,
      () => {
        const [tokens, result] = work(list());
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileAtomically(file, `${JSON.stringify({ version, config, tokens }, undefined, 2)}\n`);
        return result;
      },
      { folder: join(stateFolder, "locks") },
    );
  }

  return {
    file,
    list,
    stamp() {
      const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
      return stats ? `${stats.ino} ${stats.mtimeNs} ${stats.size}` : "";
    },
    load: async () => undefined,
    isCurrent: () => true,

    create(caller, nowMs, expires) {
      const { token, stored } = newToken(caller, nowMs, expires);
      return change((tokens) => [[...tokens, stored], { ...stored, token }]);
    },

    revoke(idOrCaller) {
      const isMeant = ({ id, caller }: StoredToken) => id === idOrCaller || caller === idOrCaller;
      return change((tokens) => [tokens.filter((token) => !isMeant(token)), tokens.filter(isMeant)]);
    },

    async follow(changed, runtime, signal) {
      const { watchFile } = await import("./watch-file.ts");
      // Changes below a folder that does not exist yet would be noticed seconds later.
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await watchFile(file, async () => changed(), { runtime, signal, deletions: true });
    },
  };
}

export function newToken(caller: string, nowMs: number, expires?: number): { token: string; stored: StoredToken } {
  const token = `${tokenPrefix}${randomBytes(32).toString("base64url")}`;
  const id = randomBytes(6).toString("hex");
  return { token, stored: { id, caller, hash: hashToken(token), created: nowMs, expires } };
}

export function hashToken(token: string): string {
  return sha256(token);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function isStoredToken(value: unknown): value is StoredToken {
  const { id, caller, hash, created, expires } = (value ?? {}) as Partial<Record<keyof StoredToken, unknown>>;
  return (
    [id, caller, hash].every((each) => typeof each === "string") &&
    typeof created === "number" &&
    (expires === undefined || typeof expires === "number")
  );
}
