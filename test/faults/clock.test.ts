/** The wall clock is set back and forward while the server runs: nothing waits for it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { Change, Resources } from "../../src/resources.ts";
import { createScratch, type Served, startServe } from "./pressmark-process.ts";

const hourMs = 3_600_000;
const scratch = createScratch();
const files = join(scratch.folder, "files");
const clockFile = join(scratch.folder, "clock");
const preload = pathToFileURL(join(import.meta.dirname, "wall-clock.mjs")).href;
let server: Served;
let pressmark: Awaited<ReturnType<typeof connect>>;

/** Where the wall clock of the server stands, from here on, beside that of this machine. */
function setClock(offsetMs: number): void {
  writeFileSync(clockFile, String(offsetMs));
}

beforeAll(async () => {
  mkdirSync(files);
  setClock(0);
  server = await startServe([files], {
    cwd: files,
    env: {
      ...scratch.env,
      TEST_WALL_CLOCK_FILE: clockFile,
      NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import=${preload}`,
    },
  });
  pressmark = await connect(`http://127.0.0.1:${server.port}/mcp`);
});

afterAll(async () => {
  await pressmark.close();
  server.child.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  scratch.remove();
});

describe("when the wall clock is set", () => {
  it.each([
    ["back an hour", -hourMs],
    ["forward a day", 24 * hourMs],
    ["back a year", -365 * 24 * hourMs],
  ])("%s, files that were announced before are announced again", async (name, offsetMs) => {
    const [file, uri] = fileNamed(`${name}.md`);
    setClock(0);
    writeFileSync(file, "one\n");
    using changes = await follow(pressmark, uri);
    writeFileSync(file, "two\n");
    await changes.next();
    setClock(offsetMs);
    for (const text of ["three\n", "four\n"]) {
      writeFileSync(file, text);
      await changes.next();
      // What is read after an announcement is what was announced, or newer.
      await expect(textOf(pressmark, uri)).resolves.toBe(text);
    }
  });

  it("back an hour, the list is as true as before", async () => {
    setClock(-hourMs);
    const [file, uri] = fileNamed("new.md");
    using changes = await follow(pressmark);
    writeFileSync(file, "new\n");
    await changes.next();
    expect((await pressmark.list({}, callNow())).items.map((item) => item.uri)).toContain(uri);
  });

  it("back an hour, the server reports what time it is", async () => {
    setClock(-hourMs);
    const before = Date.now() - hourMs;
    const { clients } = JSON.parse(await textOf(pressmark, "pressmark://status")) as {
      clients: { lastSeen: string }[];
    };
    expect(Date.parse(clients[0]!.lastSeen)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(clients[0]!.lastSeen)).toBeLessThanOrEqual(Date.now() - hourMs);
  });
});

function fileNamed(name: string): readonly [path: string, uri: string] {
  const path = join(files, name.replaceAll(" ", "-"));
  return [path, pathToFileURL(path).href];
}

function callNow(): { caller: { id: string }; signal: AbortSignal } {
  return { caller: { id: "test" }, signal: AbortSignal.timeout(15_000) };
}

async function textOf(from: Resources, uri: string): Promise<string> {
  const { contents } = await from.read(uri, callNow());
  const { body } = contents[0]!;
  return "text" in body ? body.text : "";
}

/** The changes of a URI, or of the list. A wait for one that does not come ends with an error. */
async function follow(from: Resources, uri?: string): Promise<Disposable & { next(): Promise<Change> }> {
  const ending = new AbortController();
  const heard = await from.watch(uri === undefined ? { list: true } : { uris: [uri] }, {
    caller: { id: "test" },
    signal: ending.signal,
  });
  const reader = heard[Symbol.asyncIterator]();
  return {
    async next() {
      const late = AbortSignal.timeout(10_000);
      const none = new Promise<never>((_resolve, reject) =>
        late.addEventListener("abort", () => reject(new Error(`no change of ${uri ?? "the list"} was announced`))),
      );
      const { done, value } = await Promise.race([reader.next(), none]);
      if (done) throw new Error("the watch ended");
      return value;
    },
    [Symbol.dispose]: () => ending.abort(),
  };
}
