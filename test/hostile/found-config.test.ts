/** Every command, as a process, in a folder whose config or programs changed after they were trusted; and a server that runs meanwhile. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands/index.ts";
import { addresses, type Change, changes, createFoundFolder, type FoundFolder } from "./found-config-folder.ts";

/** What is asked of each command. Nothing is granted by any of these. */
const asked: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ls: [["--all"]],
  tree: [[]],
  read: [["memory://m/x"], ["memory://r/x"]],
  stat: [[...addresses]],
  search: [["canary"]],
  gather: [["canary granted words"]],
  complete: [["h://h/{+path}{?lines,bytes,as}", "path", ".c"]],
  set: [["list"]],
  index: [[]],
  config: [[], ["--json"]],
  trust: [[]],
  token: [["list"], ["create", "aki"]],
  may: [["aki", "memory://m/x"]],
  audit: [[]],
  login: [
    ["p", "--no-browser"],
    ["p", "--remove"],
  ],
  doctor: [[]],
  report: [[], ["--json"]],
  add: [["claude-code", "--http"]],
  init: [[]],
  migrate: [[], ["--from-embedded"]],
  backup: [["-"]],
  restore: [["-"]],
};
/** These go on until they are stopped. */
const lasting = ["serve", "stdio", "watch"];
/** These have nothing to do with a config, or need a terminal and do then what `ls` and `read` do. */
const beside = ["pick", "drive", "completions", "help", "top"];

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** What a host says to a server. */
function hostSays(): readonly object[] {
  const requests = [
    { method: "resources/list", params: {} },
    ...addresses.map((uri) => ({ method: "resources/read", params: { uri } })),
    { method: "tools/call", params: { name: "search_resources", arguments: { query: "canary" } } },
    { method: "tools/call", params: { name: "list_resources", arguments: {} } },
  ].map((request, index) => ({ jsonrpc: "2.0", id: index + 1, ...request }));
  return [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, ...requests];
}

/** Asks until the server has taken up what was written last. */
async function untilServed(uri: string, url: string): Promise<void> {
  const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } };
  while (!(await askServer(url, [...hostSays().slice(0, 2), read])).includes('"contents"'));
}

/** The same over HTTP: all that it answers. */
async function askServer(url: string, messages = hostSays()): Promise<string> {
  let said = "";
  let session: Record<string, string> = {};
  for (const message of messages) {
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...session };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
    const id = response.headers.get("mcp-session-id");
    if (id !== null) session = { "Mcp-Session-Id": id };
    said += await response.text();
  }
  return said;
}

/** All that all commands said. */
async function everyCommand(folder: FoundFolder): Promise<string> {
  const waiting = Object.entries(asked).flatMap(([name, all]) => all.map((words) => [name, ...words]));
  let said = "";
  async function next(): Promise<void> {
    for (let words = waiting.pop(); words; words = waiting.pop()) {
      const { out, err } = await folder.run(words);
      said += `$ ${words.join(" ")}\n${out}${err}`;
    }
  }
  async function last(): Promise<void> {
    const { out, err } = await folder.run(
      ["stdio"],
      hostSays()
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(""),
    );
    said += out + err;
    const watch = folder.start(["watch"]);
    await watch.until("watching");
    await watch.stop();
    said += watch.said;
  }
  await Promise.all([next(), next(), last()]);
  return said
    .replaceAll("canary granted words", "")
    .replaceAll(/\$ [^\n]*/g, "")
    .replaceAll(askedFor, "");
}

/** Errors and answers repeat what was asked for. */
const askedFor = new RegExp(
  [...addresses, "canary"].map((each) => `"${each.replaceAll(/[.$?/]/g, String.raw`\$&`)}\\\\?"`).join("|"),
  "g",
);

describe("a config that was found", () => {
  it("is put to every command there is", () => {
    expect([...Object.keys(asked), ...lasting, ...beside].sort()).toEqual(Object.keys(commands).sort());
  });

  it("does, once it is trusted, what it was trusted with", { timeout: 300_000 }, async () => {
    await using folder = await createFoundFolder();
    expect((await folder.run(["trust", "--yes"])).out).toContain("\ntrusted;");
    const { out } = await folder.run(["ls", "--all"]);
    expect(out).toContain("h://h/.granted-name.md");
    expect(out).toContain("own://o/granted-entry");
    expect((await folder.run(["read", "db://db/t/rows"])).out).toContain("granted-row");
    expect((await folder.run(["read", "memory://m/n"])).out).toBe("granted-note");
    expect((await folder.run(["read", "l://l/g.md"])).out).toBe("granted-link");
    await folder.run(["search", "words"]);
    for (const mark of ["granted-program", "granted-import", "granted-package", "Bearer granted-variable"])
      expect(folder.deeds()).toContain(mark);
  });

  it("does nothing of all that while it is not trusted, in any command", { timeout: 300_000 }, async () => {
    await using folder = await createFoundFolder();
    folder.change(changes);
    expect(await everyCommand(folder)).not.toMatch(/canary-|granted-/);
    expect(folder.deeds()).toBe("");
  });

  const some = fc.sample(fc.subarray([...changes], { minLength: 2, maxLength: 7 }), { numRuns: 2, seed: 12 });
  it.each(some.map((each): [string, readonly Change[]] => [each.map(({ name }) => name).join(", "), each]))(
    "does nothing more in any command after it was trusted and then changed: %s",
    { timeout: 300_000 },
    async (_names, these) => {
      await using folder = await createFoundFolder();
      expect((await folder.run(["trust", "--yes"])).out).toContain("\ntrusted;");
      folder.change(these);
      expect(await everyCommand(folder)).not.toMatch(/canary-/);
      expect(folder.deeds()).not.toMatch(/canary-/);
    },
  );

  it(
    "does not start a program again, in a server that runs, that was rewritten and has died",
    { timeout: 300_000 },
    async () => {
      await using folder = await createFoundFolder();
      await folder.run(["trust", "--yes"]);
      const serving = folder.start(["serve", "--port", "0"]);
      await serving.until("serves at");
      const url = /serves at (\S+)/.exec(serving.said)![1]!;
      expect(await askServer(url)).toContain("mcp://p/");
      folder.change([changes.find(({ name }) => name === "another program")!]);
      const pid = Number(/granted-program (\d+)\n$/.exec(folder.deeds().split("{")[0]!)![1]);
      process.kill(pid, "SIGKILL");
      await askServer(url);
      await serving.stop();
      expect(folder.deeds()).not.toMatch(/canary-/);
      expect(serving.said).toMatch(/changed after its config was loaded|changed since it was trusted/);
    },
  );

  it("does nothing more in a server that runs, whatever changes", { timeout: 300_000 }, async () => {
    await using folder = await createFoundFolder();
    await folder.run(["trust", "--yes"]);
    const serving = folder.start(["serve", "--port", "0"]);
    await serving.until("serves at");
    const url = /serves at (\S+)/.exec(serving.said)![1]!;
    const order = fc.sample(fc.shuffledSubarray([...changes], { minLength: changes.length }), {
      numRuns: 1,
      seed: 3,
    })[0]!;
    // Its programs run already, so that none is just being started when it is rewritten.
    await askServer(url);
    for (const [index, each] of order.entries()) {
      // Something harmless beside it tells when the change was looked at.
      folder.change([
        each,
        {
          name: "a mark",
          config: ({ mounts }) => void (mounts![`mark${index}`] = { source: "memory", resources: { x: "" } }),
        },
      ]);
      await untilServed(`memory://mark${index}/x`, url);
    }
    expect((await askServer(url)).replaceAll(askedFor, "")).not.toMatch(/canary-/);
    await serving.stop();
    expect(serving.said.match(/changed since it was trusted/g)!.length).toBeGreaterThan(5);
    expect(serving.said).not.toMatch(/canary-(?!name)/);
    expect(folder.deeds()).not.toMatch(/canary-/);
  });
});
