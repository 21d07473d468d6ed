import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectChanges } from "../../testing/listen.ts";
import { createFeatures } from "../features.ts";
import { type Server, type OpenServerOptions, openServer } from "../open-server.ts";
import { callOf } from "./test-sets.ts";

let root: string;
let folder: string;
let pressmark: Server | undefined;
let stop: AbortController;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-house-sets-")));
  folder = join(root, "project");
  mkdirSync(join(folder, "docs"), { recursive: true });
  writeFileSync(join(folder, "README.md"), "# Read me\n");
  writeFileSync(join(folder, "docs/a.md"), "A\n");
  writeFileSync(join(root, "outside.md"), "outside\n");
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await pressmark?.close();
  pressmark = undefined;
  rmSync(root, { recursive: true, force: true });
});

async function open(text: string, more: Partial<OpenServerOptions> = {}): Promise<Server> {
  write(text);
  const env = { XDG_STATE_HOME: join(root, "state"), HOME: root };
  const err: OpenServerOptions["err"] = { write: () => true };
  pressmark = await openServer({ folders: [], from: folder, env, err, live: true, ...more });
  return pressmark;
}

function write(text: string): void {
  writeFileSync(join(folder, ".draft"), text);
  renameSync(join(folder, ".draft"), join(folder, "pressmark.config.yaml"));
}

async function toolNames(text: string, tools?: boolean): Promise<readonly string[]> {
  // A config that was only found may not offer a tool that writes.
  const opened = await open(text, { config: "pressmark.config.yaml" });
  const offering = createFeatures({ pressmark: opened, ...(tools !== undefined && { tools }) });
  offering.close();
  await opened.close();
  return offering.tools.filter(({ isFor }) => isFor?.({}, { id: "local" }) ?? true).map(({ name }) => name);
}

const uriOf = (path: string) => pathToFileURL(join(folder, path)).href;
const mounts = "mounts: { docs: { source: file, root: docs }, all: { source: memory, resources: { note: hi } } }\n";

describe("the sets of a config", () => {
  it("name what is mounted by URI or by path, and reach nothing else", async () => {
    const members = [
      "docs/a.md",
      "memory://all/note",
      "README.md",
      "../outside.md",
      pathToFileURL(join(root, "outside.md")).href,
    ];
    const { sets } = await open(`${mounts}sets: { mix: { resources: ${JSON.stringify(members)} } }\n`);
    expect(await sets.resolveSet("mix", callOf("local"))).toEqual([uriOf("docs/a.md"), "memory://all/note"]);
  });

  it("change with it, and so do the prompts", async () => {
    const { resources, settings, ...rest } = await open(`${mounts}sets: { one: { resources: [docs/a.md] } }\n`);
    const offering = createFeatures({ pressmark: { resources, settings, ...rest } });
    const call = callOf("local", stop.signal);
    const names = async () => (await offering.prompts.list(call)).map(({ name }) => name);
    expect(await names()).toContain("one");
    const heard = collectChanges(await offering.prompts.watch!(call));
    write(`${mounts}sets: { two: { resources: [docs/a.md] } }\n`);
    await heard.until(() => true, "other prompts");
    expect(await names()).toContain("two");
    expect(await names()).not.toContain("one");
    offering.close();
  });

  it("are saved by models only if the config allows it", async () => {
    expect(await toolNames(mounts)).not.toContain("save_set");
    expect(await toolNames(`${mounts}server: { tools: true }\n`)).not.toContain("save_set");
    expect(await toolNames(`${mounts}server: { tools: [save_set] }\n`)).toEqual(["save_set"]);
    expect(await toolNames(`${mounts}server: { tools: [save_set] }\n`, false)).toEqual([]);
  });
});
