/** Decides how callers authenticate, from the config and the environment. */
import { denied } from "../errors.ts";
import { baseOf, resourceOf } from "../config/auth.ts";
import { realPath } from "../lib/real-path.ts";
import type { Caller } from "../resources.ts";
import { machineOf } from "../transport/clients.ts";
import { addressOf } from "../transport/forwarded.ts";
import type { Admissions } from "./admissions.ts";
import type { AuditLog } from "./audit-log.ts";
import type { OAuthGate } from "./oauth-gate.ts";
import type { OpenServerOptions, Server } from "./open-server.ts";
import type { TokenGate } from "./token-gate.ts";

interface GateOptions extends Pick<OpenServerOptions, "env" | "from"> {
  /** File with the token of the owner. */
  readonly tokenFile?: string;
}

export interface Gate extends TokenGate {
  /** Environment variable with the token for hosts. */
  readonly variable: string;
  readonly challenge: string;
  readonly owner: Caller;
  /** Absent if no caller has scopes. */
  readonly authorize?: OAuthGate["authorize"];
  /** Whether links of other sites may open a page. */
  readonly isPage?: (path: string) => boolean;
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
  if (pressmark.withheld.includes("auth"))
    throw denied(
      "the config says how callers sign in but is not trusted, so nothing is served; trust the config first",
    );
  const isTokenSet = file !== undefined || Boolean(env["PRESSMARK_TOKEN"]) || settings.token !== undefined;
  // Refuses to start without the token that an untrusted config asks for.
  if (!isTokenSet && pressmark.withheld.includes("token"))
    throw denied("the config requires a token but is not trusted, so nothing is served; trust the config first");
  if (!isTokenSet && access.callers.length === 0 && settings.auth === undefined) return undefined;
  const [{ findToken, tokenVariable }, { challenge, createTokenGate }, { createAdmissions }, { openTokenStore }] =
    await Promise.all([
      import("./find-token.ts"),
      import("./token-gate.ts"),
      import("./admissions.ts"),
      import("./open-token-store.ts"),
    ]);
  const ownerToken = await findToken({ file, from, env, configured: settings.token });
  const store = config === undefined ? undefined : await openTokenStore(pressmark, config);
  const oauth = await openOAuth(pressmark, audit, (secret) => tokens.admit(secret), {
    findByHash: (hash) => admissions.findByHash(hash),
    isCurrent: () => admissions.isCurrent(),
  });
  const admissions = createAdmissions({ ownerToken, callers: access.callers, store, runtime });
  const closing = new AbortController();
  let following: Promise<void> | undefined;
  /** A change takes effect at once. Files are watched once there are callers: without them nobody has a token of their own. */
  function follow(): void {
    if (store && (pressmark.shared || pressmark.access?.callers.length))
      following ??= store.follow(() => admissions.reload(), runtime, closing.signal);
  }
  follow();
  const tokens = createTokenGate({
    admissions,
    oauth: oauth?.gate,
    shared: pressmark.shared && (await import("./browser-records.ts")).createBrowserRecords(pressmark.shared),
    pid: process.pid,
    monotonicMs: runtime.monotonicMs,
    signedIn: (caller, address) => recordSignIn(audit, caller?.id, address),
  });
  return {
    ...tokens,
    challenge: oauth?.challenge ?? challenge,
    authorize: oauth?.gate.authorize,
    isPage: oauth?.isPage,
    variable: tokenVariable,
    owner: admissions.owner,
    get hasCallers() {
      return oauth !== undefined || Boolean(pressmark.access?.callers.length);
    },
    reload() {
      admissions.reload(pressmark.access?.callers ?? []);
      oauth?.reload();
      follow();
    },
    async close() {
      closing.abort();
      admissions.close();
      await oauth?.close();
      await following;
    },
  };
}

/** Undefined if the config does not ask for it. */
async function openOAuth(
  pressmark: Server,
  audit: AuditLog | undefined,
  admit: TokenGate["admit"],
  { findByHash, isCurrent }: Pick<Admissions, "findByHash" | "isCurrent">,
) {
  const { settings, runtime, config } = pressmark;
  if (settings.auth === undefined || settings.publicUrl === undefined || config === undefined) return undefined;
  const [{ openVerifier }, { createOAuthCallers }, { createResourceMetadata }, { createScopes }, { createOAuthGate }] =
    await Promise.all([
      import("../auth/open-verifier.ts"),
      import("../auth/oauth-callers.ts"),
      import("../auth/resource-metadata.ts"),
      import("../auth/scopes.ts"),
      import("./oauth-gate.ts"),
    ]);
  const resource = resourceOf(settings.publicUrl);
  const publicUrl = baseOf(settings.publicUrl);
  const scopes = createScopes(settings.scopes);
  const named = () => pressmark.access?.callers ?? [];
  const verifier = await openVerifier(settings.auth, {
    publicUrl,
    resource,
    callers: named,
    scopes: settings.scopes,
    admit,
    findByHash,
    isCurrent,
    addressOf: (request) => machineOf(addressOf(request)) ?? "",
    signedIn: (caller, address) => recordSignIn(audit, caller, address),
    allowed: (caller, client) =>
      audit?.write({ what: "token", caller, outcome: "allowed", detail: `connected ${client}` }),
    stateFolder: pressmark.stateFolder,
    config: realPath(config),
    shared: pressmark.shared?.store,
    runtime,
  });
  const callers = createOAuthCallers({
    verifier,
    scopes,
    callers: named,
    rules: () => pressmark.access?.rules ?? [],
    runtime,
    signedIn: ({ id }) => audit?.write({ what: "sign-in", caller: id, outcome: "allowed" }),
  });
  const metadata = createResourceMetadata({
    publicUrl,
    resource,
    issuers: () => verifier.issuers,
    scopes: scopes.read,
  });
  return {
    gate: createOAuthGate({ callers, answer: verifier.answer, metadata, scopes, runtime, audit }),
    challenge: metadata.challenge(),
    isPage: verifier.isPage,
    reload() {
      verifier.reload?.(pressmark.auth);
      callers.reload();
    },
    async close() {
      callers.close();
      await verifier.close();
    },
  };
}

function recordSignIn(
  audit: AuditLog | undefined,
  caller: string | undefined,
  address?: string,
): Promise<void> | undefined {
  return audit?.write({ what: "sign-in", caller, address, outcome: caller === undefined ? "denied" : "allowed" });
}
