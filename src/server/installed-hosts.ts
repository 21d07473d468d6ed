/** The hosts of this machine, and how they would reach what is served from a folder. */
import { dirname, join } from "node:path";
import type { HostContext } from "../config/hosts/connection.ts";
import { type HostFile, hostFiles } from "../config/hosts/hosts.ts";
import { packageFolder } from "../config/package-folder.ts";
import type { ServerSettings } from "../config/schema.ts";
import { hostInUrl } from "../transport/guard.ts";
import { tokenVariable } from "./find-token.ts";
import { chooseConfig } from "./open-server.ts";
import { homeFolder, stateFolder } from "./state-folder.ts";
import { defaultPort } from "./start-http.ts";

export interface InstalledHosts {
  readonly files: readonly HostFile[];
  readonly here: HostContext;
  readonly host: string;
  readonly port: number;
  /** The environment variable that holds the token, where the environment or the config says that callers must send one. */
  readonly tokenVariable?: string;
  /** Where this machine keeps what must outlive us. */
  readonly state: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** A config that cannot be used counts as none here: what is wrong with it is said elsewhere. */
export async function findInstalledHosts(from: string, env: Env, settings?: ServerSettings): Promise<InstalledHosts> {
  const home = homeFolder(env);
  const state = stateFolder({ platform: process.platform, home, env });
  const origin = chooseConfig({ folders: [], from, env });
  const project = origin ? dirname(origin.file) : from;
  const { host = "127.0.0.1", port = defaultPort, token } = settings ?? (await configured());

  async function configured(): Promise<ServerSettings> {
    if (!origin) return {};
    const { loadConfig } = await import("../config/load-config.ts");
    const loaded = await loadConfig(origin, { from, env, stateFolder: state }).catch(() => undefined);
    return loaded && "config" in loaded ? loaded.config.server : {};
  }

  // An address that means "all of them" is none that a client could connect to.
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return {
    files: hostFiles({ project, home, env, platform: process.platform }),
    here: {
      project,
      url: `http://${hostInUrl(reached)}:${port}/mcp`,
      env,
      program: join(packageFolder(), "bin", "pressmark.js"),
    },
    host,
    port,
    ...((env[tokenVariable] || token !== undefined) && { tokenVariable }),
    state,
  };
}
