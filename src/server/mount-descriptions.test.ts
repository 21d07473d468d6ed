import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Call } from "../resources.ts";
import { describeMounts } from "../protocol/tools/mounts.ts";
import { composeInstructions, createInstructions, maxLength } from "./instructions.ts";
import { openServer, type OpenServerOptions, type Server } from "./open-server.ts";

const owner: Call = { caller: { id: "owner", owner: true }, signal: new AbortController().signal };
const tools = ["search_resources", "list_resources", "read_resource", "gather_context"] as const;

const config = `mounts:
  notes: { source: file, root: notes, scheme: n }
  handbook:
    source: file
    root: handbook
    scheme: h
    title: 社内ハンドブック
    description: "設計判断と運用手順。\\n\\nRead it before you \\u001b[31mchange\\u202e code"
    priority: 0.9
  old: { source: file, root: old, scheme: o, description: Earlier versions, priority: 0.1 }
  forms: { source: file, root: forms, scheme: f, audience: [user] }
  shop: { source: postgres, url: "postgres://me@localhost/shop", password: "\${env:ABSENT}" }
`;

let folder: string;
let server: Server;
let said = "";

function write(text: string): void {
  writeFileSync(join(folder, ".draft"), text);
  renameSync(join(folder, ".draft"), join(folder, "pressmark.config.yaml"));
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-described-")));
  for (const name of ["notes", "handbook", "old", "forms"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "tea.md"), "How to brew green tea\n");
  }
  writeFileSync(join(folder, "old/AGENTS.md"), "x");
  writeFileSync(join(folder, "notes/README.md"), "x");
  writeFileSync(join(folder, "handbook/plan.png"), "x");
  write(config);
  const err = { write: (line: string) => ((said += line), true) } as OpenServerOptions["err"];
  const env = { XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache"), HOME: folder };
  server = await openServer({ folders: [], config: "pressmark.config.yaml", from: folder, env, err, live: true });
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a mount with a title, a description, a priority or an audience", () => {
  it("is described in the instructions, by priority; hostile texts are one quoted line", async () => {
    const instructions = createInstructions({ pressmark: server, server: "pressmark", tools });
    const first = instructions.of(owner.caller);
    expect(first).toContain(
      'lets you read "社内ハンドブック" (h://handbook): "設計判断と運用手順。 Read it before you [31mchange code"; ' +
        '"notes" (n://notes): "Files below one folder"; "old" (o://old): "Earlier versions". Not available now: "shop".',
    );
    // For people only.
    expect(first).not.toContain("forms");
    await instructions.look(owner.caller);
    // The priority of a mount makes no document of it special, and those of a low one are not read first.
    expect(/Read first: .*?\./.exec(instructions.of(owner.caller))?.[0]).toBe('Read first: "README.');
    instructions.close();
  });

  it("gives its title to its root and its paths, and its priority and audience to what has none", async () => {
    expect(await server.resources.stat("h://handbook", owner)).toMatchObject({
      name: "handbook",
      title: "社内ハンドブック",
      description: "設計判断と運用手順。 Read it before you [31mchange code",
    });
    const { items } = await server.resources.list({}, owner);
    const shown = (uri: string) => items.find((item) => item.uri === uri);
    expect(shown("h://handbook/tea.md")).toMatchObject({
      title: "社内ハンドブック/tea.md",
      annotations: { priority: 0.9 },
    });
    expect(shown("f://forms/tea.md")).toMatchObject({ title: "forms/tea.md", annotations: { audience: ["user"] } });
    expect(shown("n://notes/tea.md")?.annotations).not.toHaveProperty("priority");
    const { contents } = await server.resources.read("pressmark://status", owner);
    const body = contents[0]!.body;
    expect(JSON.parse("text" in body ? body.text : "")).toMatchObject({
      mounts: [
        { name: "handbook", title: "社内ハンドブック", priority: 0.9 },
        { name: "notes", description: "Files below one folder" },
        { name: "forms", audience: ["user"] },
        { name: "old", description: "Earlier versions", priority: 0.1 },
        { name: "shop", state: "left out" },
      ],
    });
  });

  it("ranks its hits by its priority, also after that changed", async () => {
    const found = async (text: string) => {
      await server.index.caughtUp(owner);
      return (await server.resources.search({ text, limit: 9 }, owner)).hits.map(({ resource }) => resource.uri);
    };
    const before = await found("brew green tea");
    expect([before.length, before[0], before[3]]).toEqual([4, "h://handbook/tea.md", "o://old/tea.md"]);
    expect(await found("tea audience:assistant")).not.toContain("f://forms/tea.md");
    const changes = (await server.resources.watch({ list: true }, owner))[Symbol.asyncIterator]();
    write(config.replace("priority: 0.9", "priority: 0.2").replace("priority: 0.1", "priority: 1"));
    await changes.next();
    const after = await found("brew green tea");
    expect([after.length, after[0], after[3]]).toEqual([4, "o://old/tea.md", "h://handbook/tea.md"]);
    expect(said).not.toContain("error");
  });
});

describe("descriptions of mounts", () => {
  it("leave out those of sources before those of mounts, and texts before names", () => {
    const mounts = ["a", "b", "c"].map((name) => ({ name, base: `${name}://`, summary: "Files below one folder" }));
    const [a, b, c] = mounts as [(typeof mounts)[0], (typeof mounts)[0], (typeof mounts)[0]];
    const described = [a, { ...b, description: "規程" }, { ...c, title: "C!", priority: 1 }];
    expect(describeMounts(described, 200)).toBe(
      '"C!" (c://): "Files below one folder"; "a" (a://): "Files below one folder"; "b" (b://): "規程"',
    );
    expect(describeMounts(described, 45)).toBe('"C!" (c://); "a" (a://); "b" (b://): "規程"');
    expect(describeMounts(described, 26)).toBe('"C!" (c://); "a" (a://) and 1 more');
    expect(describeMounts([{ ...a, description: "資".repeat(500) }], 500)).toBe(`"a" (a://): "${"資".repeat(159)}…"`);
  });

  it("stay within the limit of the instructions, on one line", () => {
    const text = fc
      .array(fc.constantFrom("資料", "🖋️", "e\u0301", "a b", "\n", "\u202e", '"', "\u{e0041}", "\u2028", "\u0000"), {
        maxLength: 300,
      })
      .map((pieces) => pieces.join(""));
    const mount = fc.record(
      {
        name: fc.string({ minLength: 1, maxLength: 64 }),
        base: fc.constant("docs://%E6%97%A5/"),
        title: text,
        description: text,
        summary: text,
        priority: fc.double({ min: 0, max: 1, noNaN: true }),
      },
      { requiredKeys: ["name", "base"] },
    );
    fc.assert(
      fc.property(fc.array(mount, { maxLength: 30 }), fc.array(mount, { maxLength: 9 }), (mounts, missing) => {
        const instructions = composeInstructions({ server: "pressmark", mounts, missing, keyResources: [], tools });
        expect(instructions.length).toBeLessThanOrEqual(maxLength);
        expect(instructions.isWellFormed()).toBe(true);
        // oxlint-disable-next-line no-control-regex -- control characters are intended
        expect(instructions).not.toMatch(/[\u0000-\u001f\u2028\u202e\u{e0041}]/u);
      }),
      { numRuns: 50 },
    );
  });
});
