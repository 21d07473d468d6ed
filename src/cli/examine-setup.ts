/** All checks of `pressmark doctor`, also for `pressmark report`. */
import type { ConfigOrigin } from "../config/load-config.ts";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { CheckResult } from "../server/examine.ts";
import type { Server } from "../server/open-server.ts";
import type { CommandContext } from "./command.ts";

/** A mount with a problem does not keep the others from being checked. */
export async function examineSetup(config: string | undefined, world: CommandContext): Promise<readonly CheckResult[]> {
  const findings: CheckResult[] = [await checkNode()];
  const pressmark = await open(config, world, findings);
  try {
    const settings = pressmark?.settings;
    if (pressmark) await checkMounts(pressmark, config !== undefined, world, findings);
    if (pressmark && settings?.tls) {
      const { examineCertificate } = await import("../server/examine-certificate.ts");
      findings.push(examineCertificate(settings.tls, pressmark.runtime.now()));
    }
    await checkHosts(world, settings, findings);
  } finally {
    await pressmark?.close();
  }
  return findings;
}

async function checkNode(): Promise<CheckResult> {
  const { readManifest } = await import("../lib/package-files.ts");
  const { examineNode } = await import("../server/examine.ts");
  return examineNode(process.versions.node, (await readManifest()).engines.node);
}

/** Undefined if the server cannot be opened; the reason is then in `findings`. */
async function open(
  config: string | undefined,
  world: CommandContext,
  findings: CheckResult[],
): Promise<Server | undefined> {
  const { chooseConfig, openServer } = await import("../server/open-server.ts");
  const { examineConfig } = await import("../server/examine-config.ts");
  const { folder: from, env, err } = world;
  try {
    const origin = chooseConfig({ folders: [], config, from, env });
    findings.push(...(await examineConfig(origin, from, env)));
    if (origin) findings.push(...(await checkState(origin, world)));
    // The server would wait for a database that is away.
    if (findings.some(({ about, state }) => about === "state" && state === "broken")) return undefined;
    // Log messages about trust are among the findings already.
    const log = { env: { PRESSMARK_LOG: "error", ...env }, err };
    return await openServer({ folders: [], config, from, ...log, readsShared: true });
  } catch (cause) {
    if (!(cause instanceof ResourceError)) throw cause;
    if (!findings.some(({ state }) => state === "broken"))
      findings.push({ about: "config", state: "broken", says: cause.message });
    return undefined;
  }
}

async function checkState(origin: ConfigOrigin, world: CommandContext): Promise<readonly CheckResult[]> {
  const { serverOf } = await import("./config-state.ts");
  const { stateFolder, systemPathsOf } = await import("../lib/system-paths.ts");
  const server = await serverOf(origin, stateFolder(systemPathsOf(world.env)), world);
  if (server.state === undefined) return [];
  const { examineState } = await import("../server/examine-state.ts");
  const { createRuntime } = await import("../server/runtime.ts");
  return examineState(server, createRuntime(world.err, "error", world.env), world.signal);
}

async function checkMounts(
  pressmark: Server,
  isNamed: boolean,
  { folder, env, signal }: CommandContext,
  findings: CheckResult[],
): Promise<void> {
  const { examineMount, examineProblems, examineWatches } = await import("../server/examine.ts");
  const { examineFaulty } = await import("../server/examine-faulty.ts");
  const { examineSets } = await import("../server/examine-sets.ts");
  const call: Call = { caller: { id: "local", owner: true }, signal };
  findings.push(...examineFaulty(pressmark));
  for (const mount of pressmark.mounts)
    findings.push(await examineMount(mount, call), ...(await examineProblems(mount, call)));
  if (pressmark.config !== undefined) {
    const { examineMasked } = await import("../server/examine-masked.ts");
    const origin = { file: pressmark.config, named: isNamed };
    findings.push(...(await examineMasked(origin, { from: folder, env }, pressmark.mounts, call)));
  }
  if (pressmark.config !== undefined && pressmark.access) {
    const { examineAccess } = await import("../server/examine-access.ts");
    const { openTokenStore } = await import("../server/open-token-store.ts");
    const tokens = await openTokenStore(pressmark, pressmark.config);
    findings.push(...examineAccess(pressmark, tokens, pressmark.runtime.now()));
  }
  if (pressmark.auth !== undefined) {
    const { examineAuth } = await import("../server/examine-auth.ts");
    findings.push(...(await examineAuth(pressmark)));
  }
  findings.push(...(await examineSets(pressmark.sets, pressmark.resources, call)));
  const { index, shared } = pressmark;
  const searched = pressmark.mounts.map(({ name }) => name).filter((name) => index.ready(name) !== undefined);
  // None if the config disables the index.
  if (searched.length > 0 && shared) {
    const { examineSharedIndex } = await import("../server/examine-shared-index.ts");
    findings.push(await examineSharedIndex(shared, searched));
  } else if (searched.length > 0) {
    const { examineIndex } = await import("../server/examine-index.ts");
    findings.push(examineIndex(index.place));
  }
  const watches = examineWatches();
  if (watches) findings.push(watches);
}

async function checkHosts(
  world: CommandContext,
  settings: Server["settings"] | undefined,
  findings: CheckResult[],
): Promise<void> {
  const { examineAddress } = await import("../server/examine.ts");
  const { examineHosts } = await import("../server/examine-hosts.ts");
  const { findInstalledHosts } = await import("../server/installed-hosts.ts");
  const hosts = await findInstalledHosts(world.folder, world.env, settings);
  findings.push(await examineAddress(hosts.host, hosts.port, hosts.here.url, world.signal));
  findings.push(...(await examineHosts(hosts, world.signal)));
}
