/** `pressmark login`: signs in to the server of a mount, or out. */
import { ResourceError } from "../../errors.ts";
import { type CommandContext, defineCommand, flag, one, textFlag } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";

const patienceMs = 600_000;

export default defineCommand({
  name: "login",
  summary: "Sign in to another MCP server that a mount shows",
  more: "Opens the page of the server's authorization server, where you allow Pressmark to read what you can read there. The tokens are stored in the state folder of this machine, in a file that only you can read, and renewed when they expire. Everyone whom the rules let see the mount then sees it as you. The mount needs the source mcp, a url and auth.",
  examples: ["pressmark login wiki", "pressmark login wiki --remove"],
  takes: { mount: one("Name of the mount") },
  flags: {
    remove: flag("Sign out: revoke and remove the stored tokens"),
    "no-browser": flag("Print the address without opening a browser"),
    json: flag("Print one JSON object"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  async run({ mount, flags }, world) {
    const { remove, json } = flags;
    const login = await openLogin(mount, flags.config, world);
    if (remove) {
      const removed = await login.logout(world.signal);
      if (json) return print(world.out, jsonLine({ mount, removed }));
      return print(
        world.out,
        removed ? `signed out of ${plain(mount)}\n` : `nobody was signed in to ${plain(mount)}\n`,
      );
    }
    const { openBrowser } = await import("../../server/open-browser.ts");
    const show = async (url: string): Promise<void> => {
      if (!flags["no-browser"] && world.err.isTTY) openBrowser(url, { env: world.env, avoid: [world.folder] });
      await print(world.err, `Open this page and allow access:\n\n${plain(url)}\n\n`);
    };
    const signal = AbortSignal.any([world.signal, AbortSignal.timeout(patienceMs)]);
    const issuer = await login.login(show, signal);
    if (json) return print(world.out, jsonLine({ mount, issuer }));
    return print(world.out, `signed in to ${plain(mount)} at ${plain(issuer)}\n`);
  },
});

async function openLogin(mount: string, config: string | undefined, world: CommandContext) {
  const [{ loadConfig }, { findConfigState }, { createMcpLogin }, { createRuntime, logLevel }] = await Promise.all([
    import("../../config/load-config.ts"),
    import("../config-state.ts"),
    import("../../server/mcp-login.ts"),
    import("../../server/runtime.ts"),
  ]);
  const { origin, state } = await findConfigState(config, world);
  const loaded = await loadConfig(origin, { from: world.folder, env: world.env, stateFolder: state });
  const { mounts, faulty } = "untrusted" in loaded ? { mounts: [], faulty: [] } : loaded.config;
  const [problem] = faulty.find(({ name }) => name === mount)?.problems ?? [];
  if (problem !== undefined) throw new ResourceError("invalid", problem);
  const found = mounts.find(({ name }) => name === mount);
  if (found) return createMcpLogin(found, { ...createRuntime(world.err, logLevel(world.env)), env: world.env });
  throw new ResourceError(
    "not-found",
    `no mount ${JSON.stringify(mount)} in the config, or the config is not trusted yet; see: pressmark config`,
  );
}
