import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStand, type RunOptions, type Stand } from "../test-command.ts";

let stand: Stand;

beforeEach(() => {
  stand = createStand();
  stand.write("README.md", "one");
  stand.write("docs/a.txt");
  stand.write("docs/b.txt");
});

afterEach(() => stand.remove());

/** A running command and its output. */
function start(words: readonly string[], options: RunOptions = {}) {
  return begin(["watch", ...words], options);
}

function begin(words: readonly string[], options: RunOptions = {}) {
  const stop = new AbortController();
  let said = "";
  let listeners: (() => void)[] = [];
  const ended = stand.run(words, {
    ...options,
    signal: stop.signal,
    heard(text) {
      said += text;
      const waiting = listeners;
      listeners = [];
      for (const listener of waiting) listener();
    },
  });
  const until = async (text: string): Promise<void> => {
    while (!said.includes(text)) await new Promise<void>((resolve) => listeners.push(resolve));
  };
  return { until, ended, said: () => said, stop: () => stop.abort() };
}

describe("watch", () => {
  it("prints a line for each change until it is stopped, which is no failure", async () => {
    const watch = start(["README.md", "docs"]);
    await watch.until("watching 2 resources; stop with Ctrl-C\n");
    stand.write("README.md", "two");
    await watch.until("README.md\n");
    stand.write("docs/new.txt");
    await watch.until("docs\n");
    watch.stop();
    const { code, out, err } = await watch.ended;
    expect([code, err]).toEqual([0, "pressmark: watching 2 resources; stop with Ctrl-C\n"]);
    for (const line of out.trimEnd().split("\n"))
      expect(line).toMatch(/^\d\d:\d\d:\d\d {2}changed {2}file:\/\/\/.*\/(?:README\.md|docs)$/);
  });

  it("watches what a pattern matches, and shows a terminal paths", async () => {
    const watch = start(["docs/*.txt"], { terminal: true });
    await watch.until("watching 2 resources");
    rmSync(join(stand.folder, "docs/b.txt"));
    await watch.until("changed  docs/b.txt\n");
    watch.stop();
    expect((await watch.ended).code).toBe(0);
  });

  it("reports changes of the list", async () => {
    const watch = start(["--list"]);
    await watch.until("watching the list;");
    stand.write("new.txt");
    await watch.until("list changed\n");
    watch.stop();
    await watch.ended;
  });

  it("ends with --once after the first change, and gives it as JSON", async () => {
    const watch = start(["README.md", "--list", "--once", "--json"]);
    await watch.until("watching 1 resource and the list;");
    stand.write("README.md", "two");
    const { code, out } = await watch.ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      kind: "updated",
      uri: `${stand.base}README.md`,
    });
  });

  it("that is stopped before what it waits for was interrupted", async () => {
    const watch = start(["README.md", "--once"]);
    await watch.until("watching");
    watch.stop();
    expect(await watch.ended).toMatchObject({ code: 130, out: "" });
  });

  it("fails for what is not there, and names it where only some is", async () => {
    expect(await start(["nothing"]).ended).toMatchObject({ code: 3, out: "" });
    expect(await start([`${stand.base}nothing`]).ended).toMatchObject({ code: 3, out: "" });
    const watch = start([`${stand.base}nothing`, "README.md"]);
    await watch.until("watching 1 resource;");
    watch.stop();
    expect((await watch.ended).err).toContain(`pressmark: cannot be watched: ${stand.base}nothing\n`);
  });
});

describe("watch without arguments", () => {
  it("prints every change of all mounts, and names those that cannot be watched", async () => {
    stand.write("notes/n.md", "n");
    const mounts = `files: { source: file, root: docs }, notes: { source: file, root: notes, scheme: notes }, any: { source: data }`;
    stand.write("pressmark.config.yaml", `mounts: { ${mounts} }\n`);
    const watch = start([]);
    await watch.until("watching everything in 2 mounts; stop with Ctrl-C\n");
    stand.write("docs/a.txt", "changed");
    await watch.until(`changed  ${stand.base}docs/a.txt\n`);
    stand.write("notes/新.md", "new");
    await watch.until("added    notes://notes/%E6%96%B0.md\n");
    rmSync(join(stand.folder, "docs/b.txt"));
    await watch.until(`removed  ${stand.base}docs/b.txt\n`);
    watch.stop();
    const { code, err } = await watch.ended;
    expect(code).toBe(0);
    expect(err).toContain('mount "any" cannot be watched: its source does not report changes\n');
  });

  it("counts only mounts that it watches, and names one that fails once", async () => {
    const mounts = `files: { source: file, root: docs }, away: { source: mcp, url: "http://127.0.0.1:9/mcp" }`;
    stand.write("pressmark.config.yaml", `mounts: { ${mounts} }\n`);
    const watch = start(["--config", "pressmark.config.yaml"]);
    await watch.until('watching everything in 1 mount, and trying again to watch "away"; stop with Ctrl-C\n');
    stand.write("docs/a.txt", "changed");
    await watch.until("docs/a.txt\n");
    watch.stop();
    const { code, err } = await watch.ended;
    expect([code, err.match(/cannot start, trying again/g)?.length]).toEqual([0, 1]);
  });

  it("prints changes in new directories, and ends with --once", async () => {
    const watch = start(["--once", "--json"]);
    await watch.until("watching everything in 1 mount;");
    stand.write("new/deep/file.txt");
    const { code, out, err } = await watch.ended;
    // The watch is over before the mounts are closed: one that is retried would keep the process alive.
    expect([code, err]).toEqual([0, "pressmark: watching everything in 1 mount; stop with Ctrl-C\n"]);
    expect(JSON.parse(out)).toMatchObject({
      kind: "added",
      uri: expect.stringMatching(/\/new(?:\/deep\/file\.txt)?$/),
    });
  });

  it("watches the list and the listed resources of another server", async () => {
    const child = join(import.meta.dirname, "../../../test/e2e/child.ts");
    const watch = start(["--server", `${process.execPath} ${child} stdio ${stand.folder}`]);
    await watch.until("watching 3 resources and the list;");
    stand.write("docs/a.txt", "changed");
    await watch.until(`changed  ${stand.base}docs/a.txt\n`);
    watch.stop();
    expect((await watch.ended).code).toBe(0);
  });
});

/** A server, and a watch of it with a token. */
async function watchServed() {
  stand.write("team.yaml", "mounts:\n  docs: { source: file, root: docs }\ncallers:\n  aki: {}\n");
  const config = ["--config", "team.yaml"];
  const server = begin(["serve", "--port", "0", ...config]);
  await server.until("/mcp");
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(server.said())![0];
  const token = (await stand.run(["token", "create", "aki", ...config])).out.trim();
  const watch = start(["--server", url, "--header", `Authorization: Bearer ${token}`]);
  await watch.until("watching 2 resources and the list;");
  return { server, watch, revoke: () => stand.run(["token", "revoke", "aki", ...config]) };
}

describe("watch of a server that requires a token", () => {
  it("ends with the reason when the token is revoked", async () => {
    const { server, watch, revoke } = await watchServed();
    expect((await revoke()).code).toBe(0);
    const { code, err } = await watch.ended;
    server.stop();
    await server.ended;
    expect(code).toBe(3);
    expect(err).toContain("pressmark: the server denied access; check the token\n");
  });

  it("says once that the server is away, and tries again", async () => {
    const { server, watch } = await watchServed();
    server.stop();
    await server.ended;
    await watch.until("changes are not reported at present, trying again: the server at http://127.0.0.1:");
    watch.stop();
    const { code, err } = await watch.ended;
    expect([code, err.match(/trying again/g)?.length]).toEqual([0, 1]);
  });
});
