/** A mount's root disappears, or its files cannot be read for a while. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStage, type Stage, until } from "./stage.ts";

let stage: Stage;

beforeEach(() => {
  stage = createStage();
});

afterEach(() => stage.close());

describe("a mount whose folder is gone", () => {
  it("has no results, is named, and has them again once it is back", async () => {
    for (let at = 0; at < 20; at += 1) stage.write(`${at}.md`, `# Number ${at}\n\ngreen tea\n`);
    const server = await stage.serve();
    await stage.untilTrue(server, "tea");
    const away = join(stage.root, "away");
    renameSync(stage.folder, away);
    // From the first search on: what is shown can be read.
    await until("the mount to be named", async () => {
      const answer = await server.search("tea");
      for (const { resource } of answer.hits) await server.read(resource.uri);
      const seen = { hits: answer.hits.length, ready: answer.ready, failures: answer.failures };
      return {
        holds: answer.hits.length === 0 && answer.ready === 0 && answer.failures?.[0]?.mount === "served",
        seen,
      };
    });
    expect(await server.searchInWords("tea")).toMatch(
      /cannot be read at (?:present|the moment)|does not exist at the moment/,
    );
    await until("the index to say so, too", async () => {
      const [mount] = (await server.indexStatus()).mounts;
      return { holds: mount!.state === "failing" && mount!.ready < 1, seen: mount };
    });
    expect(await server.search("tea")).toMatchObject({ hits: [], ready: 0, failures: [{ mount: "served" }] });
    renameSync(away, stage.folder);
    await stage.untilTrue(server, "tea");
  }, 90_000);
});

describe.skipIf(process.platform !== "linux")("a server with few file descriptors (skipped: needs prlimit)", () => {
  const count = 600;

  function writeAll(): void {
    for (let at = 0; at < count; at += 1) stage.write(`${at}.md`, `# Number ${at}\n\ngreen tea\n`);
  }

  it("never says that all is indexed while files are missing, and takes them up when it has more", async () => {
    stage.write("a.md", "green tea");
    const server = await stage.serve();
    await stage.untilTrue(server, "tea");
    // One is left, and reading takes two.
    server.limitFiles(server.lowestFreeDescriptor() + 1);
    writeAll();
    await until("files that cannot be read, or a watch that fails", async () => {
      const { state, mounts } = await server.indexStatus();
      const { documents, pending, ready } = mounts[0]!;
      if (documents > 1 && (state === "complete" || ready === 1)) expect(documents).toBe(count + 1);
      const isFailing = /could not be read for the search index|the watch (?:ended|cannot start)/.test(server.log);
      return { holds: isFailing && pending > 0 && ready < 1, seen: { mount: mounts[0], log: server.log } };
    });
    expect((await server.search("tea")).ready).toBeLessThan(1);
    server.limitFiles(1024);
    await stage.untilTrue(server, "tea");
  }, 90_000);

  it("from the start never says that all is indexed while files are missing", async () => {
    writeAll();
    const server = await stage.serve({ descriptors: 40 });
    await until("all files in the index, or said that some are missing", async () => {
      await server.search("tea");
      const { state, problem, mounts } = await server.indexStatus();
      const [mount] = mounts;
      if (mount?.ready === 1) expect(mount.documents).toBe(count);
      const isSaid = mount?.state === "partial" || problem !== undefined;
      return { holds: mount?.ready === 1 || isSaid, seen: { state, problem, mount } };
    });
  }, 90_000);
});
