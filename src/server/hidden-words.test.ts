/** Words of hidden documents do not affect what a caller finds: neither which hits, nor their order. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import type { Call, Caller } from "../resources.ts";
import { openServer, type Server } from "./open-server.ts";

const visible = {
  "a.md": "kettle kettle kettle steam",
  "b.md": "kettle teapot 会議の予定",
  "c.md": "teapot teapot teapot steam 会議",
};
/** Rare words become frequent, a misspelt word exists, and so does a word that nothing visible contains. */
const hidden = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`private/${index}.md`, "kettle kettla steem zebra 会議"]),
);
const questions = ["kettle teapot", "kettla", "steem", "zebra", "会議", "kettle -zebra", "ket", "mime:text/markdown"];

const written = new Date("2026-01-01T00:00:00Z");

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function serve(files: Readonly<Record<string, string>>): Promise<{ server: Server; folder: string }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-words-")));
  const folder = join(root, "team");
  mkdirSync(join(folder, "private"), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    writeFileSync(join(folder, path), text);
    // Newer documents come first, so the time must be the same on both servers.
    utimesSync(join(folder, path), written, written);
  }
  writeFileSync(
    join(root, "pressmark.yaml"),
    `mounts: { files: { source: file, root: team } }
callers: { aki: {}, ben: {} }
rules:
  - { allow: [anyone] }
  - { deny: ["caller:aki"], files: [team/private] }
`,
  );
  const server = await openServer({
    folders: [],
    config: join(root, "pressmark.yaml"),
    from: folder,
    live: true,
    env: { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") },
    err: { write: () => true },
  });
  stops.push(async () => {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  });
  await server.index.caughtUp({ signal: AbortSignal.timeout(30_000) });
  return { server, folder };
}

const callOf = (caller: Caller): Call => ({ caller, signal: AbortSignal.timeout(30_000) });

async function found({ resources }: Server, text: string, caller: Caller): Promise<unknown[]> {
  const { hits } = await resources.search({ text, limit: 10 }, callOf(caller));
  return hits.map(({ resource, snippet, marks, score }) => [resource.name, snippet, marks, score]);
}

it("a caller finds the same, whether there are hidden documents or not", { timeout: 90_000 }, async () => {
  const [full, bare] = await Promise.all([serve({ ...visible, ...hidden }), serve(visible)]);
  for (const text of questions)
    expect(await found(full.server, text, { id: "aki" }), text).toEqual(await found(bare.server, text, { id: "aki" }));
  // Others see the documents, so their results differ.
  expect(await found(full.server, "zebra", { id: "ben" })).toHaveLength(10);
  expect(await found(full.server, "kettla", { id: "ben" })).not.toEqual(
    await found(bare.server, "kettla", { id: "ben" }),
  );

  writeFileSync(join(full.folder, "d.md"), "a new document about zebra");
  await vi.waitFor(async () => expect(await found(full.server, "zebra", { id: "aki" })).toHaveLength(1), {
    timeout: 20_000,
    interval: 50,
  });
});
