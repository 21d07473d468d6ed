/** Decides how callers authenticate, from the config and the environment. */
import { denied, unsupported } from "../errors.ts";
import { realPath } from "../lib/real-path.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import type { Admissions } from "./admissions.ts";
import type { AuditLog } from "./audit-log.ts";
import type { OpenServerOptions, Server } from "./open-server.ts";
import type { TokenGate } from "./token-gate.ts";
import type { TokenStore } from "./token-store.ts";

interface GateOptions extends Pick<OpenServerOptions, "env" | "from"> {
  /** File with the token of the owner. */
  readonly tokenFile?: string;
}

export interface Gate extends TokenGate {
  /** Environment variable with the token for hosts. */
  readonly variable: string;
  readonly challenge: string;
  readonly owner: Caller;
  /** Whether several callers have tokens of their own. */
  readonly hasCallers: boolean;
  reload(): void;
  close(): Promise<void>;
}

/** Undefined if no token is required. Refuses to open a server whose config is not trusted to say who may connect. */
export async function openGate(
  pressmark: Server,
  options: GateOptions,
  audit: AuditLog | undefined,
): Promise<Gate | undefined> {
  const { tokenFile: file, env, from } = options;
  const { settings, access, runtime, config } = pressmark;
  if (!access)
    throw denied("the config names callers or rules but is not trusted, so nothing is served; trust the config first");
  if (settings.auth !== undefined || pressmark.withheld.includes("auth"))
    throw unsupported("server.auth is not available");
  const isTokenSet = file !== undefined || Boolean(env["PRESSMARK_TOKEN"]) || settings.token !== undefined;
  // Refuses to start without the token that an untrusted config asks for.
  if (!isTokenSet && pressmark.withheld.includes("token"))
    throw denied("the config requires a token but is not trusted, so nothing is served; trust the config first");
  if (!isTokenSet && access.callers.length === 0) return undefined;
  const [{ findToken, tokenVariable }, { challenge, createTokenGate }, { createAdmissions }, { createTokenStore }] =
    await Promise.all([
      import("./find-token.ts"),
      import("./token-gate.ts"),
      import("./admissions.ts"),
      import("./token-store.ts"),
    ]);
  const ownerToken = await findToken({ file, from, env, configured: settings.token });
  const store = config === undefined ? undefined : createTokenStore(pressmark.stateFolder, realPath(config));
  const admissions = createAdmissions({ ownerToken, callers: access.callers, store, runtime });
  const closing = new AbortController();
  const following = store && followTokens(store, admissions, runtime, closing.signal);
  return {
    ...createTokenGate({
      admissions,
      pid: process.pid,
      monotonicMs: runtime.monotonicMs,
      signedIn: (caller) =>
        audit?.write({ what: "sign-in", caller: caller?.id, outcome: caller ? "allowed" : "denied" }),
    }),
    challenge,
    variable: tokenVariable,
    owner: admissions.owner,
    hasCallers: access.callers.length > 0,
    reload: () => admissions.reload(pressmark.access?.callers ?? []),
    async close() {
      closing.abort();
      admissions.close();
      await following;
    },
  };
}

/** A token that is created or revoked takes effect at once. */
async function followTokens(store: TokenStore, admissions: Admissions, runtime: Runtime, signal: AbortSignal) {
  const { watchFile } = await import("./watch-file.ts");
  store.prepare();
  await watchFile(store.file, async () => admissions.reload(), { runtime, signal });
}
