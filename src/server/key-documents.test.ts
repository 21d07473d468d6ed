import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import type { Call, Caller } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { useCollection } from "../sources/docs/test-collection.ts";
import { createClock } from "../testing/clock.ts";
import { findKeyDocuments, quickFindKeyDocuments } from "./key-documents.ts";
import { startStdio } from "./start-stdio.ts";

const folder = useCollection();
const { open, write } = folder;
const english = "# Title\n\nThis page is written in English, with enough words.\n";
const japanese = "# 題名\n\nこのページは日本語で書かれています。\n";
const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

async function serve(options: Readonly<Record<string, unknown>> = {}, policy: Policy = openPolicy) {
  const mounts = [{ name: "handbook", base: "docs://handbook/", source: await open({ git: false, ...options }) }];
  const { runtime } = createClock();
  const resources = createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32), pageSize: 2 });
  const names = async (find: typeof findKeyDocuments, caller: Caller = call.caller) =>
    (await find(mounts, resources, { ...call, caller })).map(({ name }) => name);
  return { names, resources, mounts };
}

describe("the documents of a docs mount to read first", () => {
  it("are its highest priorities at any depth, each in one language, those nearest to the top first", async () => {
    write("AGENTS.md", english);
    write("ja/AGENTS.md", japanese);
    write("a/ops/runbooks/a.md", english);
    write("ja/運用/障害対応手順書.md", japanese);
    write("legacy/AGENTS.md", english);
    write("guides/a.md", english);
    write("key.md", `---\npriority: 0.9\naudience: [user]\n---\n${english}`);
    const { names, resources, mounts } = await serve();
    const expected = ["en/AGENTS.md", "ja/運用/障害対応手順書.md", "en/a/ops/runbooks/a.md"];
    expect(await names(findKeyDocuments)).toEqual(expected);
    let reported: readonly string[] = [];
    await quickFindKeyDocuments(mounts, resources, call, (found) => (reported = found.map(({ name }) => name)));
    expect(reported).toEqual(expected);
    const [, second] = await findKeyDocuments(mounts, resources, call);
    expect(second?.uri).toBe(
      `docs://handbook/ja/${encodeURIComponent("運用")}/${encodeURIComponent("障害対応手順書.md")}`,
    );
  });

  it("are those in the preferred language", async () => {
    write("README.md", english);
    write("README.ja.md", japanese);
    expect(await (await serve({ prefer: "ja" })).names(findKeyDocuments)).toEqual(["ja/README.md"]);
  });

  it.each([0.5, 0.9, 1])(
    "are the same if the mount has the priority %d, which one of them may have too",
    async (priority) => {
      for (const name of ["AGENTS.md", "README.md", "notes.md"]) write(name, english);
      const { names, resources, mounts } = await serve();
      const served = mounts.map((mount) => ({ ...mount, priority }));
      const found = await findKeyDocuments(served, resources, call);
      expect(found.map(({ name }) => name)).toEqual(await names(findKeyDocuments));
      expect(found[0]?.name).toBe("en/AGENTS.md");
    },
  );

  it("are none if nothing stands out", async () => {
    write("guides/a.md", english);
    write("notes.md", english);
    write("archive/README.md", english);
    expect(await (await serve()).names(findKeyDocuments)).toEqual([]);
  });

  it("are chosen from what the caller may see", async () => {
    for (const name of ["a", "b", "c", "d"]) write(`${name}/AGENTS.md`, english);
    write("README.md", english);
    const policy: Policy = {
      maySee: ({ id }, _, { path }) => id === "owner" || !/^en\/[a-c](?:\/|$)/.test(path),
    };
    const { names } = await serve({}, policy);
    expect(await names(findKeyDocuments, { id: "owner" })).toEqual([
      "en/a/AGENTS.md",
      "en/b/AGENTS.md",
      "en/c/AGENTS.md",
    ]);
    expect(await names(findKeyDocuments)).toEqual(["en/d/AGENTS.md", "en/README.md"]);
  });

  it("are in the first response to a host that asks immediately", async () => {
    write("ja/AGENTS.md", japanese);
    const config = join(folder.above, "c.yaml");
    writeFileSync(config, `mounts: { handbook: { source: docs, git: false, root: ${JSON.stringify(folder.root)} } }`);
    const [input, out] = [new PassThrough(), new PassThrough()];
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "host", version: "1" } };
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    const { signal } = new AbortController();
    const env = { HOME: folder.above };
    const err = new PassThrough();
    const options = { folders: [], config, from: folder.above, env, err, version: "1", input, out, signal };
    // On a busy machine, listing one document may take longer than a host should wait.
    const served = startStdio({ ...options, prepareMs: 60_000 });
    let response = "";
    for await (const chunk of out) {
      response += String(chunk);
      if (response.includes("\n")) break;
    }
    input.end();
    await served;
    const { result } = JSON.parse(response) as { result: { instructions: string } };
    expect(result.instructions).toContain('Read first: "ja/AGENTS.md" (docs://handbook/ja/AGENTS.md).');
  });
});
