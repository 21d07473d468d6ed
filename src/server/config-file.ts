/** The config file of a server: loads it, reports what it may not do, and follows its changes. */
import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.ts";
import { type ConfigOrigin, type ConfigContext, labelOf, loadConfig, trustCommand } from "../config/load-config.ts";
import { serverReasons } from "../config/permissions.ts";
import { ConfigError } from "../config/problem.ts";
import type { ServerSettings } from "../config/schema.ts";
import { realPath } from "../lib/real-path.ts";
import { asksFor, createTrustStore, leftOut, notUsed, type Permission } from "../config/trust.ts";
import { ResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import { createLogRedaction } from "./log-redaction.ts";
import type { Project } from "./search/index-location.ts";
import { stampOf, watchFile } from "./watch-file.ts";

/** The outcome of a reload: the config is not used, in effect without a visible change, or in effect. */
export type Applied = "ignored" | "alike" | "changed";

export interface ConfigFile {
  /** As it was when the file was opened. */
  readonly config: Config;
  readonly project: Project;
  /** Its log contains no values of the config's references. */
  readonly runtime: Runtime;
  /**
   * Loads the file again after each change of it or of its trust, one load at a time, until the signal is aborted. `apply` returns
   * whether it took the config, and whether anything that is served changed; if it throws, the previous config stays in effect. While `isFaulty` returns true, loads it
   * from time to time as well: a missing file may exist by now.
   */
  follow(
    apply: (next: Config, isRetry: boolean) => Promise<Applied>,
    signal: AbortSignal,
    isFaulty?: () => boolean,
  ): Promise<unknown>;
}

/** Settings that take effect when a server starts. */
const restartSettings = [
  "host",
  "port",
  "allowedHosts",
  "allowedOrigins",
  "publicUrl",
  "trustProxy",
  "proxyHeader",
  "tls",
  "state",
  "bus",
  "token",
  "tools",
] as const;

/** Editors that save over a file empty it first. An empty config would be valid: it serves its folder. */
const savingMs = 1000;
/** Mounts with problems are tried again after the first time, then at growing intervals up to the second. */
const firstRetryMs = 5000;
const longestRetryMs = 60_000;

/** Undefined if the config must be trusted first; the reason is logged. */
export async function openConfigFile(
  origin: ConfigOrigin,
  world: ConfigContext,
  plain: Runtime,
): Promise<ConfigFile | undefined> {
  const label = labelOf(origin.file, world.from);
  const trust = trustCommand(origin.file, world.from);
  const { runtime, keep } = createLogRedaction(plain);
  const files = [origin.file, ...(origin.named ? [] : [createTrustStore(world.stateFolder).placeOf(origin.file)])];
  // Before they are read: a change while the server starts takes effect, too.
  const stamps = new Map(files.map((file) => [file, stampOf(file)]));
  const loaded = await loadConfig(origin, world);
  if ("untrusted" in loaded) {
    runtime.log("warn", untrustedSentence(loaded.untrusted));
    return undefined;
  }
  const first = loaded.config;
  keep(first);
  sayWithheld(first);
  if (first.mounts.length === 0 && first.faulty.length === 0)
    throw new ResourceError(
      "denied",
      `nothing in ${label} may be served before it is trusted; review it, then run: ${trust}`,
    );

  function untrustedSentence(permission: Permission): string {
    return `${label} ${asksFor(permission)}, ${notUsed(permission)}; review it, then run: ${trust}`;
  }

  function sayWithheld({ withheld }: Config): void {
    for (const permission of withheld)
      runtime.log("warn", `${label} ${asksFor(permission)}, ${leftOut(permission)}; run: ${trust}`);
  }

  function sayRestartFor(setting: keyof ServerSettings): void {
    runtime.log("warn", `server.${setting} has changed, which takes effect after a restart`, { config: label });
  }

  function sayRestart(before: ServerSettings, now: ServerSettings): void {
    for (const setting of restartSettings)
      if (!isDeepStrictEqual(before[setting], now[setting])) sayRestartFor(setting);
    // Changed issuers take effect at once.
    if (Array.isArray(before.auth) !== Array.isArray(now.auth) || typeof before.auth !== typeof now.auth)
      sayRestartFor("auth");
  }

  /** The next config, if it may take effect. */
  async function loadNext(isQuiet: boolean): Promise<Config | undefined> {
    const next = await loadConfig(origin, world);
    if ("untrusted" in next) {
      if (isQuiet) return undefined;
      runtime.log("warn", `${untrustedSentence(next.untrusted)} The previous config stays in effect.`);
      return undefined;
    }
    const others = origin.named ? false : lettingIn(first.server);
    if (others === false || isDeepStrictEqual(others, lettingIn(next.config.server))) return next.config;
    if (isQuiet) return undefined;
    // Other machines were let in by a grant for what was served at that time.
    sayWithheld(next.config);
    runtime.log(
      "warn",
      `${label} changes what other machines are served, or which machines may connect. The previous config stays in effect until the new one is trusted and the server restarted.`,
    );
    return undefined;
  }

  function sayProblem(cause: unknown): void {
    const lines = cause instanceof ConfigError ? cause.lines : [`${label}: cannot be used`];
    for (const line of lines) runtime.log("error", line, cause instanceof ConfigError ? {} : { cause });
    runtime.log("error", "the config has problems, so the previous config stays in effect", { config: label });
  }

  return {
    config: first,
    project: { config: realPath(origin.file) },
    runtime,
    follow(apply, signal, isFaulty = () => false) {
      let config = first;
      let reloading: Promise<void> = Promise.resolve();

      async function reload(isRetry: boolean): Promise<void> {
        if (isEmpty(origin.file)) await runtime.wait(savingMs, signal);
        const next = await loadNext(isRetry);
        if (!next) return;
        const forget = keep(next);
        const applied = await apply(next, isRetry);
        if (applied === "ignored") {
          forget();
          return;
        }
        if (!isRetry) sayWithheld(next);
        sayRestart(config.server, next.server);
        config = next;
        if (applied === "changed") runtime.log("info", "the config changed and is in effect", { config: label });
      }

      async function retryFaulty(): Promise<void> {
        for (let retryMs = firstRetryMs; !signal.aborted; retryMs = Math.min(retryMs * 2, longestRetryMs)) {
          await runtime.wait(retryMs, signal).catch(() => undefined);
          // Without problems, nothing is tried; the next problem is new.
          if (!isFaulty()) retryMs = firstRetryMs / 2;
          // Problems of the file were reported when it changed.
          else if (!signal.aborted) await (reloading = reloading.then(() => reload(true)).catch(() => undefined));
        }
      }

      // The config and its trust may change at the same time.
      const reloadInOrder = () => (reloading = reloading.then(() => reload(false)).catch(sayProblem));
      const watching = files.map((file) =>
        watchFile(file, reloadInOrder, { runtime, signal, since: stamps.get(file) }),
      );
      return Promise.all([...watching, retryFaulty()]);
    },
  };
}

function isEmpty(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === 0;
}

/** Settings that let in other machines and pages; false if there are none. */
function lettingIn(settings: ServerSettings): false | readonly unknown[] {
  const { host = [], allowedHosts = [], allowedOrigins = [], publicUrl = [] } = serverReasons(settings);
  const isOpen = host.length + allowedHosts.length + allowedOrigins.length + publicUrl.length > 0;
  return isOpen && [host, allowedHosts, allowedOrigins, publicUrl, settings.token];
}
