/** The folder of the index cannot be written when the server starts, or from some moment on, and then can be again. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStage, type ServerProcess, type Stage, until } from "./stage.ts";

/** Mounting a small disk, or running as another user, is for root alone. */
const isRoot = process.getuid?.() === 0 && process.platform === "linux";
const canMount = isRoot && tryMount();
const why = canMount ? "" : " (skipped: only root may mount a disk here)";
const nobody = 65_534;

let stage: Stage;

beforeEach(() => {
  stage = createStage();
  for (let at = 0; at < 20; at += 1) stage.write(`${at}.md`, `# Number ${at}\n\ngreen tea\n`);
});

afterEach(() => stage.close());

function tryMount(): boolean {
  const probe = createStage();
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", probe.cache], { stdio: "ignore" });
    execFileSync("umount", [probe.cache], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    void probe.close();
  }
}

/** Makes the cache a disk of its own. */
function mountCache(...options: readonly string[]): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", ["size=8m", ...options].join(","), "tmpfs", stage.cache]);
  stage.cleanUp(() => void execFileSync("umount", ["--lazy", stage.cache]));
}

/** Leaves no room on the disk of the cache. Gives what makes room again. */
function fillCache(): () => void {
  const file = join(stage.cache, "filling");
  const { bavail, bsize } = statfsSync(stage.cache);
  writeFileSync(file, Buffer.alloc(Number(bavail) * Number(bsize)));
  return () => rmSync(file);
}

/** Whatever is asked about search says that there is no index, and why. */
async function expectUnavailable(server: ServerProcess, reason: string, words: string): Promise<void> {
  await server.search("tea");
  await until(`the problem "${reason}"`, async () => {
    const { state, problem } = await server.indexStatus();
    return { holds: state === "unavailable" && problem?.reason === reason, seen: { state, problem } };
  });
  const answer = await server.search("tea");
  expect(answer).toMatchObject({ ready: 0, failures: [{ mount: "served", message: expect.stringContaining(words) }] });
  expect(await server.searchInWords("tea")).toContain(words);
  expect(await server.searchInWords("tea")).not.toContain("in a moment");
  expect(await server.status()).toMatchObject({
    index: { state: "unavailable", problem: expect.stringContaining(words) },
    mounts: [{ indexed: { state: "unavailable", ready: 0 } }],
  });
}

async function expectFindings(words: string, options = {}): Promise<void> {
  const doctor = await stage.run(["doctor", "--json"], options);
  const findings = JSON.parse(doctor.out) as { about: string; state: string; says: string; advice?: string }[];
  expect(findings.find(({ about }) => about === "index")).toMatchObject({
    state: "broken",
    says: expect.stringContaining(words) as string,
    advice: expect.stringContaining("XDG_CACHE_HOME") as string,
  });
  expect(doctor.code).toBe(1);
  const search = await stage.run(["search", "tea"], options);
  expect(search).toMatchObject({ code: 1, out: "", err: expect.stringContaining(words) as string });
  expect(await stage.run(["index"], options)).toMatchObject({ code: 1, err: expect.stringContaining(words) as string });
}

describe("an index that cannot be opened at start", () => {
  it.skipIf(!canMount)(
    `on a read-only disk says so, and is there once the disk can be written${why}`,
    async () => {
      mountCache("ro");
      const server = await stage.serve();
      await expectUnavailable(server, "read-only", "is read-only");
      await expectFindings("is read-only");
      execFileSync("mount", ["-o", "remount,rw", stage.cache]);
      await stage.untilTrue(server, "tea");
    },
    60_000,
  );

  it.skipIf(!canMount)(
    `on a full disk says so, and is there once there is room${why}`,
    async () => {
      mountCache();
      const free = fillCache();
      const server = await stage.serve();
      await expectUnavailable(server, "disk-full", "is full");
      await expectFindings("is full");
      free();
      await stage.untilTrue(server, "tea");
    },
    60_000,
  );

  it.skipIf(!isRoot)(
    `in a folder of another user says so, and is there once it may be written${why}`,
    async () => {
      chmodSync(stage.root, 0o755);
      const state = join(stage.root, "state");
      mkdirSync(state);
      chownSync(state, nobody, nobody);
      const options = { user: nobody };
      const server = await stage.serve(options);
      await expectUnavailable(server, "no-permission", "no permission to write");
      await expectFindings("no permission to write", options);
      chownSync(stage.cache, nobody, nobody);
      await stage.untilTrue(server, "tea");
    },
    60_000,
  );

  it("because a file is in the place of a folder above it says so, and is there once it is moved away", async () => {
    writeFileSync(join(stage.cache, "pressmark"), "not of the index");
    const server = await stage.serve();
    await expectUnavailable(server, "blocked", "the path of the search index is not a folder");
    await expectFindings("is not a folder");
    rmSync(join(stage.cache, "pressmark"));
    await stage.untilTrue(server, "tea");
  }, 60_000);
});

describe("an index that is searched on a read-only disk", () => {
  it.skipIf(!canMount)(
    `finds what it holds, says that it is incomplete, and is written again once the disk can be${why}`,
    async () => {
      mountCache();
      const before = await stage.serve();
      await stage.untilTrue(before, "tea");
      // Its log is left behind, so that the database can be opened where nothing can be written.
      await before.end("SIGKILL");
      execFileSync("mount", ["-o", "remount,ro", stage.cache]);
      const server = await stage.serve();
      stage.write("new.md", "green tea");
      await until("results that are said to be incomplete", async () => {
        const { names, ready, failures } = await server.search("tea");
        return { holds: names.length === 20 && ready < 1 && failures !== undefined, seen: { names, ready, failures } };
      });
      execFileSync("mount", ["-o", "remount,rw", stage.cache]);
      await stage.untilTrue(server, "tea");
    },
    90_000,
  );
});

describe("an index whose disk becomes full while it is in use", () => {
  it.skipIf(!canMount)(
    `says so, and takes up what it missed once there is room${why}`,
    async () => {
      mountCache();
      const server = await stage.serve();
      await stage.untilTrue(server, "tea");
      const free = fillCache();
      const words = Array.from({ length: 3000 }, (_, at) => `word${at}`).join(" ");
      for (let at = 0; at < 50; at += 1) stage.write(`more/${at}.md`, `# More ${at}\n\ngreen tea ${at} ${words}\n`);
      await until("the full disk in the answers", async () => {
        const { ready, failures = [] } = await server.search("tea");
        const { problem } = await server.indexStatus();
        const isSaid = failures.some(({ message }) => message.includes("is full"));
        return { holds: isSaid && ready < 1 && problem?.reason === "disk-full", seen: { ready, failures, problem } };
      });
      // What was in before is still found.
      expect((await server.search("number")).names).toContain("1.md");
      free();
      await stage.untilTrue(server, "tea");
    },
    90_000,
  );
});
