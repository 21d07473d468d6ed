/** A source of one's own with keys: resources with children, lists without order, and a watch that is refused. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { pagesOf, recordsIn, textAt, urisIn } from "./answers.ts";
import { stdioLine } from "./line/stdio-line.ts";
import { why } from "./test-key-store.ts";

const command = fileURLToPath(new URL("child.ts", import.meta.url));
const source = fileURLToPath(new URL("test-key-store.ts", import.meta.url));
const keys = ["user:1", "user:1:friends", "user:1:friends:2", "user:2", "group:a:members"];
const refused = `the mount "still" cannot be watched: ${why}`;
const flag = (resource: JsonRecord | undefined) =>
  isRecord(resource?.["_meta"]) ? resource["_meta"]["pressmark/hasChildren"] : undefined;
let folder: string;
let config: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "pressmark-keys-")));
  config = join(folder, "pressmark.config.yaml");
  const mounts = { keys: { source, keys }, still: { source, keys: ["a", "a:b"], isWatched: false } };
  await writeFile(config, JSON.stringify({ mounts }));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function start(...words: readonly string[]) {
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder, NO_COLOR: "1" };
  const child = spawn(process.execPath, [command, ...words, "--config", config], { cwd: folder, env });
  return { child, exit: once(child, "exit").then(([code]) => code as number | null) };
}

async function run(...words: readonly string[]) {
  const { child, exit } = start(...words);
  child.stdin.end();
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { out, err, code };
}

describe.for(["2026-07-28", "2025-11-25", "2024-11-05"] as const)("a key store over stdio in %s", (revision) => {
  it("is listed, opened, read, searched and watched", async () => {
    const { child, exit } = start("stdio");
    const line = await stdioLine(revision, {
      input: child.stdin,
      output: child.stdout,
      async close() {
        child.stdin.end();
        await exit;
      },
    });
    const pages = await pagesOf(line, "resources/list");
    const uris = pages.flatMap((page) => urisIn(page)).filter((uri) => uri.startsWith("keys://keys/"));
    expect(uris.sort()).toEqual(keys.map((key) => `keys://keys/${key.replaceAll(":", "/")}`).sort());
    const listed = pages.flatMap((page) => recordsIn(page, "resources"));
    // The oldest have no metadata.
    const marked = revision === "2024-11-05" ? undefined : true;
    expect(flag(listed.find(({ uri }) => uri === "keys://keys/user/1"))).toBe(marked);
    expect(flag(listed.find(({ uri }) => uri === "keys://keys/user/2"))).toBeUndefined();
    expect(await textAt(line, "keys://keys/user/1")).toBe("value of user:1");
    for (const uri of ["keys://keys/user/1?x=1", "keys://keys//user/1", "keys://keys/user/1/"])
      expect((await line.error("resources/read", { uri })).message, uri).toBe("Resource not found");
    if (line.modern) {
      const below = recordsIn(
        await line.result("resources/directory/read", { uri: "keys://keys/user/1" }),
        "resources",
      );
      expect(below).toMatchObject([{ uri: "keys://keys/user/1/friends", _meta: { "pressmark/hasChildren": true } }]);
    }

    if (line.modern) {
      const ear = await line.hear({ uris: ["keys://still/a", "keys://keys/user/2"] });
      expect(ear.uris).toEqual(["keys://keys/user/2"]);
      await ear.close();
    } else {
      const failure = await line.error("resources/subscribe", { uri: "keys://still/a" });
      expect(failure).toMatchObject({ code: -32603, message: refused, data: { reason: "unwatchable" } });
    }
    const ear = await line.hear({ uris: ["keys://keys/user", "keys://keys/user/1", "keys://keys/user/1/friends"] });
    const put = { name: "put_keys", arguments: { key: "user:3:friends" } };
    await line.result("tools/call", put);
    expect(await ear.next()).toEqual({ updated: "keys://keys/user" });
    await line.result("tools/call", { name: "remove_keys", arguments: { key: "user:1" } });
    const heard = [await ear.next(), await ear.next()];
    expect(heard).toContainEqual({ updated: "keys://keys/user/1" });
    expect(heard).not.toContainEqual({ updated: "keys://keys/user/1/friends" });
    expect(await textAt(line, "keys://keys/user/1/friends")).toBe("value of user:1:friends");
    await line.close();
    expect(await exit).toBe(0);
  });
});

describe("a key store on the command line", () => {
  it("is a tree that goes through keys", async () => {
    const { out } = await run("tree", "keys://keys");
    expect(
      out
        .split("\n")
        .map((each) => each.replaceAll(/[│├└─]/g, " ").trim())
        .sort(),
    ).toEqual(
      [
        "",
        "",
        "1/  1  15 B",
        "2  25 B",
        "2  15 B",
        "a/  1",
        "friends/  1  23 B",
        "group/  1",
        "members  24 B",
        "user/  2",
      ]
        .concat(["keys://keys", expect.stringMatching(/^3 directories, 5 files/)])
        .sort(),
    );
  });

  it("lists what is below a key, and finds a pattern through one", async () => {
    expect((await run("ls", "keys://keys/user/1")).out).toBe("keys://keys/user/1/friends\n");
    expect((await run("ls", "user/*/friends")).out).toBe("keys://keys/user/1/friends\n");
    expect((await run("read", "keys://keys/user/1")).out).toBe("value of user:1");
  });

  it("cannot be watched where its backend does not allow it, and everything says so", async () => {
    const doctor = await run("doctor", "--json");
    const lines = JSON.parse(doctor.out) as readonly JsonRecord[];
    expect(lines.find(({ about }) => about === "mount still")).toMatchObject({
      state: "hint",
      says: `2 resources, listed and read; it cannot be watched: ${why}`,
    });
    expect(lines.find(({ about }) => about === "mount keys")).toMatchObject({ state: "ok" });
    const watch = await run("watch", "keys://still/a");
    expect(watch.code).not.toBe(0);
    expect(watch.err).toContain(refused);
  });
});
