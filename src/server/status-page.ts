/** The resource `pressmark://status`: mounts, index, clients, recent reads, host settings. Visible to the owner only. */
import type { Quotas } from "../access/quotas.ts";
import { byPriority, rootOf } from "../protocol/tools/mounts.ts";
import type { ServedMount } from "./locate.ts";
import type { MountHealth } from "./mount-health.ts";
import type { UnopenedMount } from "./open-mounts.ts";
import type { ServerIndex, ShownStatus } from "./server-index.ts";
import { indexStatusOf } from "./index-status.ts";
import { followSharedHealth, sharedHealth, type SharedHealthSource } from "./shared-health.ts";
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
  readonly health: MountHealth;
  /** What the instances of the server share. Absent in a server of one instance. */
  readonly shared?: SharedHealthSource | undefined;
  /** The last lines of the log. */
  recentLog?(): readonly string[];
}

/** A mount is checked when someone reads the status, at most this often. */
const freshMs = 10_000;
/** Check interval while someone watches. */
const lookMs = 15_000;

export function statusPage(options: StatusPageOptions): StatusPage {
  const { index, register, quotas, mounts, faulty, health, shared } = options;
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
      health.refresh(freshMs);
      const { served } = register;
      const indexed = indexStatusOf(index);
      return {
        version: served?.version,
        url: served?.url,
        mounts: [
          ...byPriority(mounts()).map((mount) => ({
            ...toStatus(mount),
            configProblems: faulty().find(({ name }) => name === mount.name)?.problems,
            ...health.stateOf(mount),
            indexed: toIndexed(indexed.mounts.find(({ name }) => name === mount.name)),
          })),
          ...faulty().flatMap(toLeftOut),
        ],
        index: { state: indexed.state, bytes: indexed.bytes, problem: indexed.problem?.message },
        shared: shared && { instance: shared.instance, ...sharedHealth(shared) },
        clients: register.clients(),
        reads: register.reads(),
        refusedByQuota: quotas.refusals(),
        hosts: await hostsOf(register),
        log: options.recentLog?.(),
      };
    },

    follow(hear, signal) {
      health.follow(hear, signal);
      index.follow(hear, signal);
      register.follow(hear, signal);
      quotas.follow(hear, signal);
      if (shared) followSharedHealth(shared, hear, signal);
    },

    attend(signal) {
      const looking = setInterval(() => health.refresh(freshMs), lookMs);
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
