/** The client in a browser: what is bundled for one holds nothing of Node, and works where there is none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import type * as Client from "../../src/client/index.ts";
import { openNotes } from "./notes.ts";

const root = join(import.meta.dirname, "../..");
/** What a page pays for it, compressed. */
const maxBytes = 110_000;

/** All that the page may touch of this process is what a browser has, too. */
const browserGlobals = [
  "AbortController",
  "AbortSignal",
  "DOMException",
  "Event",
  "EventTarget",
  "Headers",
  "MessageEvent",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextDecoderStream",
  "TextEncoder",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "atob",
  "btoa",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "queueMicrotask",
  "setTimeout",
  "structuredClone",
] as const;

/** "iife" is one file with everything; "es" loads some of it only when it is used. */
async function bundle(format: "iife" | "es"): Promise<OutputChunk[]> {
  const built = await rolldown({
    cwd: root,
    platform: "browser",
    input: join(root, "src/client/index.ts"),
    onLog(level, { message }) {
      if (level === "warn" && /resolve|external|node:/i.test(message)) throw new Error(message);
    },
  });
  const { output } = await built.generate({ format, name: "client", minify: true });
  await built.close();
  return output.filter((part) => part.type === "chunk");
}

describe("the client for browsers", () => {
  it("can be one file without anything of Node", async () => {
    const [file, ...more] = await bundle("iife");
    expect(more).toEqual([]);
    expect(file?.imports).toEqual([]);
    expect(file?.moduleIds.filter((id) => /cross-spawn|client\/stdio|shimsNode/.test(id))).toEqual([]);
    expect(file?.code).not.toMatch(/\brequire\("|getBuiltinModule|from"node:|\bBuffer\./);
  });

  it("is of a size that a page can bear, before it reads a skill", async () => {
    const chunks = await bundle("es");
    const needed = chunks.filter(
      ({ isEntry, moduleIds }) => isEntry || moduleIds.some((id) => id.endsWith("/connect.ts")),
    );
    const names = new Set(needed.flatMap(({ fileName, imports }) => [fileName, ...imports]));
    const first = chunks.filter(({ fileName }) => names.has(fileName));
    expect(
      first.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.includes("/@modelcontextprotocol/")),
    ).not.toEqual([]);
    expect(first.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.includes("/yaml/"))).toEqual([]);
    const size = first.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
    expect(size, `${size} bytes`).toBeLessThan(maxBytes);
  });

  it("reads and watches where nothing but a browser's globals are there", { timeout: 60_000 }, async () => {
    await using notes = await openNotes({ a: "1" });
    const [file] = await bundle("iife");
    const page: Record<string, unknown> = {};
    for (const name of browserGlobals) page[name] = globalThis[name];
    const context = createContext(page);
    runInContext(`${file?.code}; globalThis.client = client;`, context);
    const { connect, walkPages } = page["client"] as typeof Client;
    const pressmark = await connect(notes.url);
    const call = { caller: { id: "page" }, signal: new AbortController().signal };
    const uris: string[] = [];
    for await (const { uri } of walkPages((ask) => pressmark.list(ask, call))) uris.push(uri);
    expect(uris).toEqual([notes.uriOf("a")]);
    const watch = await pressmark.watch({ uris }, call);
    const changes = watch[Symbol.asyncIterator]();
    notes.set("a", "2");
    expect((await changes.next()).value).toMatchObject({ kind: "updated", uri: uris[0] });
    const [content] = (await pressmark.read(uris[0] ?? "", call)).contents;
    expect(content?.body).toMatchObject({ text: "2" });
    await pressmark.close();
  });

  it("says its own version", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(readFileSync(join(root, "src/client/connect.ts"), "utf8")).toContain(`version: "${version}"`);
  });
});
