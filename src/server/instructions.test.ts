import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import type { Caller } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory, type MemoryValue } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { composeInstructions, createInstructions, maxLength } from "./instructions.ts";

type SampleContents = Readonly<Record<string, MemoryValue>>;

const me: Caller = { id: "me" };
const allTools = ["search_resources", "list_resources", "read_resource"] as const;

function openTestServer(places: Readonly<Record<string, SampleContents>>, policy: Policy = openPolicy) {
  const clock = createClock();
  const mounts = Object.entries(places).map(([name, sampleContents]) => ({
    name,
    base: `memory://${encodeURIComponent(name)}/`,
    memory: createMemory(sampleContents),
  }));
  const served = mounts.map(({ name, base, memory }) => ({ name, base, source: memory.source }));
  const resources = createResources({ mounts: served, policy, runtime: clock.runtime, cursorKey: new Uint8Array(32) });
  const pressmark = { resources, mounts: served, policy, runtime: clock.runtime };
  return { pressmark, clock, memories: mounts.map(({ memory }) => memory) };
}

function open(places: Readonly<Record<string, SampleContents>>, policy?: Policy) {
  const opened = openTestServer(places, policy);
  return { ...opened, said: createInstructions({ pressmark: opened.pressmark, server: "pressmark", tools: allTools }) };
}

describe("instructions", () => {
  it("say at once what is here and when to search, and what to read first as soon as it is known", async () => {
    const { said } = open({ project: { "README.md": "x", "src/a.ts": "x", "AGENTS.md": "x", "docs/index.md": "x" } });
    const first = said.of(me);
    expect(first).toContain('The server pressmark lets you read "project" (memory://project).');
    expect(first).toContain("Search it with search_resources before you answer");
    expect(first).not.toContain("Read first");
    await said.look(me);
    expect(said.of(me)).toContain(
      'Read first: "AGENTS.md" (memory://project/AGENTS.md), "README.md" (memory://project/README.md), "docs/index.md" (memory://project/docs/index.md).',
    );
  });

  it("name the most usual at once after a glance, and all of it after a look", async () => {
    const { said } = open({
      project: { "README.md": "x", "docs/index.md": "x", "plan.txt": { text: "x", annotations: { priority: 1 } } },
    });
    await said.glance(me);
    const glanced = said.of(me);
    expect(glanced).toContain('Read first: "README.md" (memory://project/README.md), "docs/index.md"');
    expect(glanced).not.toContain("plan.txt");
    await said.look(me);
    expect(said.of(me)).toContain('Read first: "plan.txt"');
    await said.glance(me);
    expect(said.of(me)).toContain('Read first: "plan.txt"');
  });

  it("put what its source calls important first, and leave out what is not for models", async () => {
    const { said } = open({
      project: {
        "README.md": "x",
        "plan.txt": { text: "x", annotations: { priority: 1 } },
        "CLAUDE.md": { text: "x", annotations: { audience: ["user"] } },
        "AGENTS.md": { text: "x", annotations: { priority: 0.1 } },
      },
    });
    await said.look(me);
    expect(/Read first: (.*?)\. Pass/.exec(said.of(me))?.[1]).toBe(
      '"plan.txt" (memory://project/plan.txt), "README.md" (memory://project/README.md), "AGENTS.md" (memory://project/AGENTS.md)',
    );
  });

  it("leave out archived documents", async () => {
    const { said } = open({ project: { "README_old.md": "x", "docs/設計_廃止.md": "x", "docs/guide.md": "x" } });
    await said.look(me);
    expect(/Read first: (.*?)\. Pass/.exec(said.of(me))?.[1]).toBe('"docs/guide.md" (memory://project/docs/guide.md)');
  });

  it("name no tools where there are none", () => {
    const { pressmark } = openTestServer({ project: {} });
    const said = createInstructions({ pressmark, server: "pressmark", tools: [] }).of(me);
    expect(said).not.toMatch(/search_resources|list_resources|read_resource/);
    expect(said).toContain("resources/list");
  });

  it("are others as soon as the mounts are, and when what was found has grown old", async () => {
    const { pressmark, clock, memories, said } = open({ project: { "README.md": "x" }, notes: { "a.txt": "x" } });
    await said.look(me);
    expect(said.of(me)).toContain("Read first");
    memories[0]!.set("AGENTS.md", "x");
    await clock.advance(61_000);
    expect(said.of(me)).not.toContain("AGENTS.md");
    await said.look(me);
    expect(said.of(me)).toContain("AGENTS.md");

    const fewer = { ...pressmark, mounts: pressmark.mounts.slice(1) };
    const moving = createInstructions({
      pressmark: {
        ...pressmark,
        get mounts() {
          return current.mounts;
        },
      },
      server: "pressmark",
      tools: allTools,
    });
    let current: { readonly mounts: typeof pressmark.mounts } = pressmark;
    await moving.look(me);
    expect(moving.of(me)).toContain("README.md");
    current = fewer;
    expect(moving.of(me)).not.toMatch(/README|project/);
    expect(moving.of(me)).toContain('"notes"');
  });

  it("do not repeat what was found so long ago that it may not be there any more", async () => {
    const { clock, said } = open({ project: { "README.md": "x" } });
    await said.look(me);
    await clock.advance(301_000);
    expect(said.of(me)).not.toContain("Read first");
  });

  it("find what to read first where a source has no directories, and do without a mount that fails", async () => {
    const { pressmark } = openTestServer({ project: { "README.md": "x" } });
    const flat: typeof pressmark.resources = {
      ...pressmark.resources,
      children: (uri) => Promise.reject(new Error(`no children of ${uri}`)),
    };
    const said = createInstructions({
      pressmark: { ...pressmark, resources: flat },
      server: "pressmark",
      tools: allTools,
    });
    await said.look(me);
    expect(said.of(me)).toContain("memory://project/README.md");
    const broken = { ...flat, list: () => Promise.reject(new Error("down")) };
    const without = createInstructions({
      pressmark: { ...pressmark, resources: broken },
      server: "pressmark",
      tools: allTools,
    });
    await without.look(me);
    expect(without.of(me)).not.toContain("Read first");
  });

  it("have at most 1,500 characters, and hold names and URIs whole", () => {
    const name = fc
      .array(fc.constantFrom("資料", "🖋️", "e\u0301", "a b", "\n", "\u202e", '"'), { minLength: 1, maxLength: 150 })
      .map((pieces) => pieces.join(""));
    const uri = fc
      .array(fc.constantFrom("%E6%97%A5", "a", "/", "b?c=", "%F0%9F%96%8B"), { maxLength: 250 })
      .map((pieces) => `docs://${pieces.join("")}`);
    fc.assert(
      fc.property(
        fc.array(fc.record({ name, base: uri.map((base) => `${base}/`) }), { maxLength: 30 }),
        fc.array(fc.record({ name, uri }), { maxLength: 3 }),
        fc.subarray([...allTools]),
        (mounts, keyResources, tools) => {
          const said = composeInstructions({ server: "pressmark", mounts, keyResources, tools });
          expect(said.length).toBeLessThanOrEqual(maxLength);
          expect(said.isWellFormed()).toBe(true);
          expect(said).not.toMatch(/[\n\r\u202e]/);
          const listed = /Read first: (.*)\. Pass URIs on/.exec(said)?.[1] ?? "";
          const whole = keyResources.filter((each) => listed.includes(`(${each.uri})`));
          // Nothing is cut.
          expect(whole.reduce((rest, each) => rest.replace(`(${each.uri})`, ""), listed)).not.toContain("://");
        },
      ),
    );
  });

  it("keep Japanese names as they are", () => {
    const mounts = [{ name: "設計資料と議事録", base: "docs://%E8%A8%AD/" }];
    const keyResources = [{ name: "はじめに.md", uri: "docs://%E8%A8%AD/%E3%81%AF.md" }];
    const said = composeInstructions({ server: "pressmark", mounts, keyResources, tools: allTools });
    expect(said).toContain('"設計資料と議事録" (docs://%E8%A8%AD)');
    expect(said).toContain('"はじめに.md" (docs://%E8%A8%AD/%E3%81%AF.md)');
  });
});

const toSampleContents = (mount: string, given: readonly string[]): SampleContents =>
  Object.fromEntries(given.map((path) => [path, { text: mount, annotations: { priority: path.length / 20 } }]));

describe("instructions reveal nothing", () => {
  const paths = ["README.md", "AGENTS.md", "CLAUDE.md", "docs/README.md", "docs/guide.md", "docs", "plan.txt"];
  const files = paths.filter((path) => path !== "docs");
  const places = fc.record({ one: fc.subarray(files), two: fc.subarray(files), three: fc.subarray(files) });
  const hidden = fc.record({
    mounts: fc.subarray(["one", "two", "three"], { maxLength: 2 }),
    paths: fc.array(fc.record({ mount: fc.constantFrom("one", "two", "three"), path: fc.constantFrom(...paths) })),
  });

  it("what the caller may not see, as if it did not exist", async () => {
    await fc.assert(
      fc.asyncProperty(places, hidden, async (all, hides) => {
        const isHidden = (mount: string, path: string) =>
          hides.mounts.includes(mount) ||
          hides.paths.some((each) => each.mount === mount && (each.path === path || path.startsWith(`${each.path}/`)));
        const policy: Policy = {
          maySee: ({ id }, mount, { path }) => id === "owner" || !isHidden(mount, path),
        };
        const full = Object.fromEntries(
          Object.entries(all).map(([mount, given]) => [mount, toSampleContents(mount, given)]),
        );
        const visible = Object.fromEntries(
          Object.entries(all)
            .filter(([mount]) => !hides.mounts.includes(mount))
            .map(([mount, given]) => [
              mount,
              toSampleContents(
                mount,
                given.filter((path) => !isHidden(mount, path)),
              ),
            ]),
        );
        const { said } = open(full, policy);
        const { said: reference } = open(visible);
        // The caller with full access asks first: its results must not be cached for others.
        await said.look({ id: "owner" });
        expect(said.of(me)).toBe(reference.of(me));
        await said.glance(me);
        await reference.glance(me);
        expect(said.of(me)).toBe(reference.of(me));
        await said.look(me);
        await reference.look(me);
        expect(said.of(me)).toBe(reference.of(me));
      }),
      { numRuns: 60 },
    );
  });
});
