/** The resource `pressmark://status`: mounts, index, clients, recent reads, host settings. Visible to the owner only. */
import type { Quotas } from "../access/quotas.ts";
import { toResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import { byPriority, rootOf } from "../protocol/tools/mounts.ts";
import type { Source, Runtime } from "../source.ts";
import type { ServedMount } from "./locate.ts";
import type { UnopenedMount } from "./open-mounts.ts";
import type { ServerIndex, ShownStatus } from "./server-index.ts";
import { indexStatusOf } from "./index-status.ts";
import type { StatusPage } from "./status-mount.ts";
import type { ActivityLog } from "./activity-log.ts";

export interface StatusPageOptions {
  readonly index: ServerIndex;
  readonly register: ActivityLog;
  readonly quotas: Pick<Quotas, "refusals" | "follow">;
  /** The current mounts. */
  mounts(): readonly ServedMount[];
  /** Mounts with problems. */
  faulty(): readonly UnopenedMount[];
  readonly runtime: Runtime;
  /** The last lines of the log. */
  recentLog?(): readonly string[];
}

interface Health {
  readonly state: "checking" | "ok" | "failing";
  readonly checkedAt?: string;
  readonly problem?: string;
}

/** A mount is checked when someone reads the status, at most this often. */
const freshMs = 10_000;
/** Check interval while someone watches. */
const lookMs = 15_000;
const patienceMs = 5000;

export function statusPage(options: StatusPageOptions): StatusPage {
  const { index, register, quotas, mounts, faulty, runtime } = options;
  const health = new WeakMap<Source, Health>();
  const hearers = new Set<() => void>();
  let lookedAt = -Infinity;

  async function look({ name, source }: ServedMount): Promise<void> {
    const before = health.get(source);
    const checkedAt = new Date(runtime.now()).toISOString();
    let after: Health = { state: "ok", checkedAt };
    try {
      await reach(source, { caller: { id: "status", owner: true }, signal: AbortSignal.timeout(patienceMs) });
    } catch (cause) {
      const { kind, message } = toResourceError(cause);
      const problem = kind === "cancelled" ? `did not respond within ${patienceMs / 1000} seconds` : message;
      after = { state: "failing", checkedAt, problem };
    }
    health.set(source, after);
    if (before?.state === after.state && before.problem === after.problem) return;
    if (after.state === "failing")
      runtime.log("warn", "a mount does not respond", { mount: name, problem: after.problem });
    for (const hear of hearers) hear();
  }

  function lookAround(): void {
    const now = runtime.monotonicMs();
    if (now - lookedAt < freshMs) return;
    lookedAt = now;
    for (const mount of mounts()) void look(mount);
  }

  return {
    entry: {
      path: "status",
      name: "status",
      title: "Status of this server",
      description: "Mounts and their health, the index, connected clients, what was read lately, settings for hosts",
      mimeType: "application/json",
    },
    isOwners: true,

    async say() {
      lookAround();
      const { served } = register;
      const indexed = indexStatusOf(index);
      return {
        version: served?.version,
        url: served?.url,
        mounts: [
          ...byPriority(mounts()).map((mount) => ({
            ...toStatus(mount),
            configProblems: faulty().find(({ name }) => name === mount.name)?.problems,
            ...(health.get(mount.source) ?? { state: "checking" }),
            indexed: toIndexed(indexed.mounts.find(({ name }) => name === mount.name)),
          })),
          ...faulty().flatMap(toLeftOut),
        ],
        index: { state: indexed.state, bytes: indexed.bytes, problem: indexed.problem?.message },
        clients: register.clients(),
        reads: register.reads(),
        refusedByQuota: quotas.refusals(),
        hosts: await hostsOf(register),
        log: options.recentLog?.(),
      };
    },

    follow(hear, signal) {
      if (signal.aborted) return;
      hearers.add(hear);
      signal.addEventListener("abort", () => hearers.delete(hear), { once: true });
      index.follow(hear, signal);
      register.follow(hear, signal);
      quotas.follow(hear, signal);
    },

    attend(signal) {
      const looking = setInterval(lookAround, lookMs);
      looking.unref();
      signal.addEventListener("abort", () => clearInterval(looking), { once: true });
    },
  };
}

function toStatus({ name, title, summary, description = summary, priority, audience, base, folder }: ServedMount) {
  return { name, title, description, priority, audience, uri: rootOf(base), folder };
}

function toIndexed(progress: ShownStatus["mounts"][number] | undefined) {
  if (!progress) return undefined;
  const { state, ready, documents, pending, unread, lastError: problem } = progress;
  return { state, ready, documents, pending, unread, problem };
}

function toLeftOut({ name, problems, isExpected, isKept }: UnopenedMount) {
  return isKept ? [] : [{ name, state: "left out", optional: isExpected, problem: problems.join("; ") }];
}

/** The cheapest request that shows whether it responds. */
async function reach(source: Source, call: Call): Promise<void> {
  try {
    if (source.children) return void (await source.children({ path: "" }, { limit: 1 }, call));
  } catch (cause) {
    // An empty source may have no root directory.
    if (toResourceError(cause).kind !== "not-found") throw cause;
  }
  await source.list({ limit: 1 }, call);
}

/** How each host connects, and the client that was most recently active under its name. */
async function hostsOf({ served, seen }: ActivityLog) {
  if (served?.url === undefined) return [];
  const { hostSetups } = await import("../config/hosts/host-setups.ts");
  const { isClientOf } = await import("../config/hosts/host-clients.ts");
  const clients = seen();
  return hostSetups({ ...served, url: served.url }).map(({ host, http, stdio }) => ({
    host,
    ...http,
    stdio,
    seen: clients.find(({ name }) => isClientOf(host, name)),
  }));
}
