/** The config of a command and the state folder, for what is stored per config. */
import { ResourceError } from "../errors.ts";
import type { CommandContext } from "./command.ts";

export async function findConfigState(config: string | undefined, { folder: from, env }: CommandContext) {
  const { chooseConfig } = await import("../server/open-server.ts");
  const { stateFolder, systemPathsOf } = await import("../lib/system-paths.ts");
  const { realPath } = await import("../lib/real-path.ts");
  const origin = chooseConfig({ folders: [], config, from, env });
  if (!origin) throw new ResourceError("not-found", "no config here or above; create one with: pressmark init");
  return { origin, state: stateFolder(systemPathsOf(env)), file: realPath(origin.file) };
}
