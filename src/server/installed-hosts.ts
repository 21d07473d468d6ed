/** The installed hosts, and how they would connect to the server of a folder. */
import { findProject } from "../config/find-config.ts";
import type { HostContext } from "../config/hosts/connection.ts";
import { type HostFile, hostFiles } from "../config/hosts/hosts.ts";
import { programFile } from "../lib/package-folder.ts";
import type { ServerSettings } from "../config/schema.ts";
import { stateFolder, systemPathsOf } from "../lib/system-paths.ts";
import type { Certificate, CertificateFiles } from "./certificate.ts";
import { tokenVariable } from "./find-token.ts";
import { chooseConfig } from "./open-server.ts";
import { serverUrl } from "./server-url.ts";
import { defaultPort } from "./server-url.ts";

export interface InstalledHosts {
  readonly files: readonly HostFile[];
  readonly here: HostContext;
  readonly host: string;
  readonly port: number;
  /** Environment variable with the token, if the environment or the config requires one. */
  readonly tokenVariable?: string;
  /** The state folder. */
  readonly state: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Ignores an invalid config: its problems are reported elsewhere. */
export async function findInstalledHosts(
  from: string,
  env: Env,
  settings?: ServerSettings,
  chosenPort?: number,
): Promise<InstalledHosts> {
  const systemPaths = systemPathsOf(env);
  const state = stateFolder(systemPaths);
  const origin = chooseConfig({ folders: [], from, env });
  const project = findProject(from, systemPaths.home);
  const { host = "127.0.0.1", port: configuredPort, token, tls } = settings ?? (await configured());
  const port = chosenPort ?? configuredPort ?? defaultPort;

  async function configured(): Promise<ServerSettings> {
    if (!origin) return {};
    const { loadConfig } = await import("../config/load-config.ts");
    const loaded = await loadConfig(origin, { from, env, stateFolder: state }).catch(() => undefined);
    return loaded && "config" in loaded ? loaded.config.server : {};
  }

  const certificate = tls && (await certificateIn(tls));
  return {
    files: hostFiles({ project, ...systemPaths }),
    here: {
      project,
      url: serverUrl({ host, port, certificate }),
      env,
      program: programFile(),
    },
    host,
    port,
    tokenVariable: env[tokenVariable] || token !== undefined ? tokenVariable : undefined,
    state,
  };
}

/** A certificate that cannot be used names no host; `doctor` says why. */
async function certificateIn(files: CertificateFiles): Promise<Pick<Certificate, "hosts">> {
  const { loadCertificate } = await import("./certificate.ts");
  try {
    return loadCertificate(files);
  } catch {
    return { hosts: [] };
  }
}
