/** `pressmark token`: creates, lists and revokes the tokens of named callers, and sets their passwords. */
import type { OAuthStore } from "../../auth/builtin/oauth-store.ts";
import { notFound, quote, ResourceError } from "../../errors.ts";
import type { TokenStore } from "../../server/token-store.ts";
import { type CommandContext, defineCommand, flag, optional, textFlag, UsageError, valueFlag } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";
import { recordEvent } from "../record-event.ts";
import { unknownCaller } from "../unknown-caller.ts";

const actions = ["list", "create", "revoke", "password"] as const;
/** Signs in with a password too, although no caller has this name. */
const owner = "owner";
const dayMs = 86_400_000;
const unitsMs: Readonly<Record<string, number>> = { h: dayMs / 24, d: dayMs, w: 7 * dayMs, y: 365 * dayMs };

export default defineCommand({
  name: "token",
  summary: "Create, list and revoke the tokens of named callers",
  more: "A caller is named in the config under callers. create prints a new token once; the caller sends it as Authorization: Bearer. Only a hash is stored, in the state folder of this machine or, with server.state, in the database that instances share. With server.auth: builtin, password asks for the password with which a caller (or owner, the operator) signs in, and list also shows the clients that callers have connected. revoke takes the id of a token or of a connected client, or the name of a caller for all of these and the password. A running server follows at once.",
  examples: [
    "pressmark token create aki --expires 90d",
    "pressmark token password aki",
    "pressmark token list",
    "pressmark token revoke aki",
  ],
  takes: {
    action: optional("Action. Default: list", actions),
    name: optional("Name of the caller; for revoke also the id of a token or of a connected client"),
  },
  flags: {
    expires: valueFlag("TIME", "How long a new token is valid (12h, 90d, 1y, or never)", {
      initial: (90 * dayMs) as number | undefined,
      initially: "90d",
      parse: parseDuration,
    }),
    json: flag("Print one JSON object per line"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  async run({ action = "list", name, flags }, world) {
    if (!actions.some((known) => known === action)) throw new UsageError(`token takes ${actions.join(", ")}`);
    if (action === "list" ? name !== undefined : name === undefined)
      throw new UsageError(action === "list" ? "list takes no name" : `${action} needs the name of a caller`);
    await withTokens(flags.config, world, (opened) => runAction(action, name, flags, opened, world));
  },
});

interface TokenFlags {
  readonly expires: number | undefined;
  readonly json: boolean;
}

async function runAction(
  action: string,
  name: string | undefined,
  flags: TokenFlags,
  { callers, store, signIns, record }: OpenTokens,
  world: CommandContext,
): Promise<void> {
  switch (action) {
    case "create": {
      if (!callers.includes(name!)) throw unknownCaller(name!, callers);
      const now = Date.now();
      const expires = flags.expires === undefined ? undefined : now + flags.expires;
      const { hash: _hash, token, ...created } = await store.create(name!, now, expires);
      await record(name!, `created ${created.id}`);
      if (flags.json) return print(world.out, jsonLine({ ...created, token }));
      world.err.write(
        `pressmark: token ${created.id} for ${plain(name!)}, ${validity(expires)}; it is not shown again\n`,
      );
      return print(world.out, `${token}\n`);
    }
    case "password": {
      if (name !== owner && !callers.includes(name!)) throw unknownCaller(name!, [...callers, owner]);
      const { hashPassword } = await import("../../auth/builtin/password.ts");
      const { readSecret } = await import("../read-secret.ts");
      const password = await hashPassword(await readSecret("password", world));
      await signIns.change(({ passwords }) => {
        passwords[name!] = password;
      });
      await record(name!, "password set");
      world.err.write(`pressmark: ${plain(name!)} can sign in with this password, with server.auth: builtin\n`);
      return;
    }
    case "revoke": {
      const ended = await signIns.revoke(name!);
      const connected = ended.grants.map(({ id, account }) => ({ id, caller: account }));
      const password = ended.hadPassword ? [{ id: "password", caller: name! }] : [];
      const revoked = [...(await store.revoke(name!)), ...connected, ...password];
      if (revoked.length === 0) throw notFound(name!);
      for (const { id, caller } of revoked) await record(caller, `revoked ${id}`);
      if (flags.json) return print(world.out, revoked.map(({ id, caller }) => jsonLine({ id, caller })).join(""));
      return print(world.out, revoked.map(({ id, caller }) => `revoked ${id} of ${plain(caller)}\n`).join(""));
    }
    default: {
      const { clients, grants } = signIns.read();
      const connected = Object.values(grants).map(({ id, account, client, created, expires }) => {
        const known = clients[client]?.metadata["client_name"];
        return { id, caller: account, created, expires, client: typeof known === "string" ? known : client };
      });
      const tokens: readonly ListedToken[] = [...store.list().map(({ hash: _hash, ...token }) => token), ...connected];
      if (flags.json) return print(world.out, tokens.map(jsonLine).join(""));
      if (tokens.length === 0)
        world.err.write("pressmark: there are no tokens; create one with: pressmark token create NAME\n");
      const width = Math.max(0, ...tokens.map(({ caller }) => caller.length));
      const line = ({ id, caller, created, expires, client }: ListedToken) =>
        `${id}  ${plain(caller).padEnd(width)}  since ${dayOf(created)}, ${validity(expires)}${client === undefined ? "" : `, client ${plain(client)}`}${[...callers, owner].includes(caller) ? "" : "; no longer a caller of the config"}\n`;
      return print(world.out, tokens.map(line).join(""));
    }
  }
}

/** A token, or what a caller allowed a client. */
interface ListedToken {
  readonly id: string;
  readonly caller: string;
  readonly created: number;
  readonly expires?: number;
  readonly client?: string;
}

/** The callers of the config, their tokens, and the audit log if the config asks for one. */
interface OpenTokens {
  readonly callers: readonly string[];
  readonly store: TokenStore;
  /** Of the embedded authorization server. */
  readonly signIns: OAuthStore;
  record(caller: string, detail: string): Promise<void>;
}

async function withTokens(
  config: string | undefined,
  world: CommandContext,
  work: (opened: OpenTokens) => Promise<void>,
): Promise<void> {
  const { loadConfig } = await import("../../config/load-config.ts");
  const { findConfigState, withShared } = await import("../config-state.ts");
  const { origin, state, file } = await findConfigState(config, world);
  const loaded = await loadConfig(origin, { from: world.folder, env: world.env, stateFolder: state });
  const { access, server = {}, withheld = [] } = "untrusted" in loaded ? {} : loaded.config;
  const isStateWithheld = withheld.some(({ part, settings }) => part === "server" && settings.includes("state"));
  if (!access || isStateWithheld)
    throw new ResourceError(
      "denied",
      "the callers of this config are not trusted yet; review it, then run: pressmark trust",
    );
  await withShared({ server, file }, world, async (shared) => {
    const { openTokenStore } = await import("../../server/open-token-store.ts");
    const { openOAuthStore } = await import("../../auth/builtin/open-oauth-store.ts");
    const { createRuntime, logLevel } = await import("../../server/runtime.ts");
    const runtime = createRuntime(world.err, logLevel(world.env), world.env);
    await work({
      callers: access.callers.map(({ name }) => name),
      store: await openTokenStore({ shared, stateFolder: state, runtime }, file),
      signIns: await openOAuthStore({ shared: shared?.store, stateFolder: state, config: file, runtime }),
      record: (caller, detail) =>
        recordEvent({ server, file, shared }, state, { what: "token", caller, outcome: "allowed", detail }),
    });
  });
}

function parseDuration(text: string): number | undefined {
  if (text === "never") return undefined;
  const [, count = "", unit = ""] = /^([1-9]\d{0,3})([hdwy])$/.exec(text) ?? [];
  const ms = Number(count) * (unitsMs[unit] ?? Number.NaN);
  if (!(ms > 0) || ms > 10 * 365 * dayMs)
    throw new UsageError(`takes a time such as 12h, 90d or 1y, at most 10y, or never, not ${quote(text, 40)}`);
  return ms;
}

function validity(expires: number | undefined): string {
  if (expires === undefined) return "never expires";
  return `${expires <= Date.now() ? "expired" : "expires"} ${dayOf(expires)}`;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
