/** Clients that create what must be remembered (sets, tokens, sessions), revoke tokens, and change the rules. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { McpAnswer } from "../../examples/cluster/mcp.ts";
import { nowMs, type RememberedKind } from "./history.ts";
import { askInSession, openSession } from "./session-client.ts";
import {
  anyTarget,
  attempt,
  type NamedTarget,
  repeat,
  runCommand,
  uriOf,
  type WorkloadContext,
} from "./workload-context.ts";

/** What earlier rounds have created, and this round checks again. */
export interface Remembered {
  readonly sets: Map<string, number>;
  /** Only those of this round: the server ends sessions that are idle. */
  readonly sessions: Map<string, number>;
  /** By id: the token and when it was acknowledged. */
  readonly tokens: Map<string, { readonly token: string; readonly atMs: number }>;
  readonly revoked: Map<string, { readonly token: string; readonly atMs: number }>;
  /** Of the caller that the rules are about. */
  ruledToken: string | undefined;
  rule: { readonly allows: boolean; readonly atMs: number } | undefined;
}

export const secretFile = "secret.md";
const keptSets = 12;
let lastNumber = 0;

export function startRecords(context: WorkloadContext, remembered: Remembered): readonly Promise<void>[] {
  const { settings, random, record, proxy } = context;
  const { sets, sessions, tokens, revoked } = remembered;
  const acknowledge = (what: RememberedKind, id: string): number => {
    const atMs = nowMs();
    record({ is: "acknowledged", what, id, atMs });
    return atMs;
  };
  return [
    repeat(context, 900, async () => {
      const name = `s-${process.pid}-${(lastNumber += 1)}`;
      const call = {
        name: "save_set",
        arguments: { name, uris: [uriOf(settings, settings.files[0]!)], replace: true },
      };
      // It is sent again if no answer comes: saving the same set twice changes nothing.
      const answer = await attempt(context, proxy, "tools/call", call);
      if (!answer?.result || answer.result["isError"] === true) return;
      sets.set(name, acknowledge("set", name));
      const [oldest] = sets.keys();
      if (sets.size <= keptSets) return;
      // It still exists, and is no longer checked.
      record({ is: "given up", what: "set", id: oldest!, atMs: nowMs() });
      sets.delete(oldest!);
    }),
    repeat(context, 150, async () => {
      if (sets.size > 0) await observeSet(context, anyTarget(context), random.pick([...sets.keys()]));
    }),
    repeat(context, 2500, async () => {
      try {
        const id = await openSession(proxy, AbortSignal.timeout(8000));
        sessions.set(id, acknowledge("session", id));
      } catch {
        // Not acknowledged.
      }
    }),
    repeat(context, 400, async () => {
      if (sessions.size > 0) await observeSession(context, anyTarget(context), random.pick([...sessions.keys()]));
    }),
    repeat(context, 2500, async () => {
      if (tokens.size < 2) {
        const created = await runCommand(settings, "token", "create", "aki", "--json");
        if (created === undefined) return;
        const { id, token } = JSON.parse(created) as { readonly id: string; readonly token: string };
        tokens.set(id, { token, atMs: acknowledge("token", id) });
        return;
      }
      const [id, { token }] = [...tokens][0]!;
      record({ is: "given up", what: "token", id, atMs: nowMs() });
      tokens.delete(id);
      if ((await runCommand(settings, "token", "revoke", id)) === undefined) return;
      const atMs = nowMs();
      record({ is: "revoked", token: id, atMs });
      revoked.set(id, { token, atMs });
    }),
    repeat(context, 250, async () => {
      if (tokens.size > 0) await observeToken(context, anyTarget(context), random.pick([...tokens]));
      if (revoked.size > 0) await tryRevoked(context, anyTarget(context), random.pick([...revoked]));
    }),
    repeat(context, 3500, async () => {
      if (remembered.ruledToken === undefined)
        remembered.ruledToken = await runCommand(settings, "token", "create", "bo");
      else changeRules(context, remembered);
    }),
    repeat(context, 250, () => askAgainstRules(context, remembered, anyTarget(context))),
  ];
}

/** Rewrites the config as an editor does. */
function changeRules({ settings: { config }, record }: WorkloadContext, remembered: Remembered): void {
  const allows = !(remembered.rule?.allows ?? true);
  const settings = JSON.parse(readFileSync(config, "utf8")) as Record<string, unknown>;
  const denial = { deny: ["caller:bo"], paths: [secretFile] };
  const rules = [{ allow: ["anyone"] }, ...(allows ? [] : [denial])];
  writeFileSync(`${config}~`, `${JSON.stringify({ ...settings, rules }, undefined, 2)}\n`);
  renameSync(`${config}~`, config);
  remembered.rule = { allows, atMs: nowMs() };
  record({ is: "rule", ...remembered.rule });
}

export async function askAgainstRules(
  context: Pick<WorkloadContext, "settings" | "record">,
  { ruledToken, rule }: Remembered,
  target: NamedTarget,
): Promise<void> {
  if (ruledToken === undefined || !rule) return;
  const startMs = nowMs();
  const as = { ...target, token: ruledToken };
  const answer = await attempt(context, as, "resources/read", { uri: uriOf(context.settings, secretFile) });
  const isAllowed = answer?.result !== undefined;
  if (isAllowed || isNotFound(answer))
    context.record({ is: "asked", by: target.name, isAllowed, startMs, endMs: nowMs() });
}

export async function observeSet(
  context: Pick<WorkloadContext, "record">,
  target: NamedTarget,
  id: string,
): Promise<boolean> {
  const startMs = nowMs();
  const answer = await attempt(context, target, "resources/read", { uri: `set://${id}` });
  const isThere = answer?.result !== undefined;
  if (!isThere && !isNotFound(answer)) return false;
  context.record({ is: "observed", what: "set", id, by: target.name, isThere, startMs, endMs: nowMs() });
  return isThere;
}

export async function observeSession(
  { record }: Pick<WorkloadContext, "record">,
  target: NamedTarget,
  id: string,
): Promise<void> {
  const startMs = nowMs();
  try {
    const { status } = await askInSession(target, id, "ping", {}, AbortSignal.timeout(8000));
    if (status !== 200 && status !== 404) return;
    record({ is: "observed", what: "session", id, by: target.name, isThere: status === 200, startMs, endMs: nowMs() });
  } catch {
    // No answer says nothing about the session.
  }
}

export async function observeToken(
  context: Pick<WorkloadContext, "record">,
  target: NamedTarget,
  [id, { token }]: readonly [string, { readonly token: string }],
): Promise<void> {
  const startMs = nowMs();
  const answer = await attempt(context, { ...target, token }, "resources/list", {});
  if (answer?.result === undefined && answer?.status !== 401) return;
  const isThere = answer.result !== undefined;
  context.record({ is: "observed", what: "token", id, by: target.name, isThere, startMs, endMs: nowMs() });
}

export async function tryRevoked(
  context: Pick<WorkloadContext, "record">,
  target: NamedTarget,
  [id, { token }]: readonly [string, { readonly token: string }],
): Promise<void> {
  const startMs = nowMs();
  const answer = await attempt(context, { ...target, token }, "resources/list", {});
  if (answer)
    context.record({ is: "tried", token: id, by: target.name, isAccepted: answer.result !== undefined, startMs });
}

function isNotFound(answer: McpAnswer | undefined): boolean {
  return answer?.error?.code === -32602 || answer?.error?.code === -32002;
}
