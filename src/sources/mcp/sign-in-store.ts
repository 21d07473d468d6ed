/** The operator's sign-ins to other servers, on this machine: one file each, readable only by its owner. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { lastingFailure } from "../../errors.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { stateFolder, systemPathsOf } from "../../lib/system-paths.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import type { Runtime } from "../../source.ts";

/** Secret. Renewed only at the issuer that issued it, whatever the server names later. */
export interface StoredSignIn {
  readonly issuer: string;
  /** Of the authorization server, as found at the sign-in. Absent if it publishes none. */
  readonly metadata?: AuthorizationServerMetadata;
  /** The resource that the tokens are for (RFC 8707). */
  readonly resource?: string;
  readonly client: OAuthClientInformationMixed;
  readonly tokens: OAuthTokens;
}

export interface SignInStore {
  /** Undefined if nobody has signed in. */
  read(): StoredSignIn | undefined;
  write(signIn: StoredSignIn): void;
  /** False if nobody was signed in. */
  remove(): boolean;
  /** Runs the work while no other process does so: a refresh token may be valid only once. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

const version = 1;

/** A sign-in belongs to a mount and its URL: another URL under the same name does not get its tokens. */
export function createSignInStore(env: Runtime["env"], mount: string, url: string): SignInStore {
  const state = stateFolder(systemPathsOf(env));
  const folder = join(state, "mcp");
  const name = createHash("sha256")
    .update(JSON.stringify([mount, url]))
    .digest("hex");
  const file = join(folder, `${name.slice(0, 32)}.json`);

  function read(): StoredSignIn | undefined {
    try {
      const stored = JSON.parse(readFileSync(file, "utf8")) as StoredSignIn & { readonly version?: unknown };
      if (stored.version !== version) throw new Error("unknown format");
      return stored;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      // Without the cause: its message may contain the file.
      throw lastingFailure(`the stored sign-in cannot be read; run: pressmark login ${mount}`);
    }
  }

  return {
    read,
    write(signIn) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileAtomically(file, `${JSON.stringify({ version, ...signIn })}\n`);
    },
    remove() {
      const existed = read() !== undefined;
      rmSync(file, { force: true });
      return existed;
    },
    alone: (work) => withFileLock(file, work, { folder: join(state, "locks") }),
  };
}
