/** Wrong options of a program are refused before anything opens, all at once. */
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createMemory } from "../sources/memory.ts";
import { appShape, serveShape, serveStdioShape } from "./app-options.ts";
import { createApp } from "./create-app.ts";
import { serve } from "./serve.ts";

const { source } = createMemory({ "a.txt": "A" });

async function problemsOf(opening: (options: never) => Promise<unknown>, options: unknown): Promise<string[]> {
  const opened = await opening(options as never).catch((cause: Error) => cause);
  if (!(opened instanceof Error)) {
    await (opened as { close(): Promise<void> }).close();
    return [];
  }
  expect(opened).toMatchObject({ kind: "invalid" });
  return opened.message.split("\n");
}

describe("wrong options", () => {
  it("are named together, with what was probably meant", async () => {
    const options = {
      mounts: { notes: { source, titel: "Notes" }, files: { source: "file", root: ".", include: "*.md" } },
      tools: ["nope"],
      search: { enabled: "x" },
      limits: { maxBytes: -1, timeoutMs: 0 },
      pagesize: 3,
      allowedHost: [],
      port: "3000x",
      transport: "htpt",
      policy: {},
      rules: [{ alow: ["anyone"] }],
    };
    const problems = await problemsOf(serve, options);
    expect(problems).toEqual(
      expect.arrayContaining([
        "name: is missing; it must be a string",
        expect.stringMatching(/^tools\[0\]: must be one of "search_resources"/),
        "search.enabled: must be true or false, not a string",
        expect.stringMatching(/^limits\.maxBytes: unknown option; use one of timeoutMs/),
        "limits.timeoutMs: must be at least 1",
        'pagesize: unknown option; did you mean "pageSize"?',
        'allowedHost: unknown option; did you mean "allowedHosts"?',
        'port: must be a whole number from 0 to 65535, not "3000x"',
        'transport: did you mean "http"?',
        'policy: must be an object with the function "maySee"',
        'rules[0].alow: unknown option; did you mean "allow"?',
        'mounts.notes.titel: unknown option; did you mean "title"?',
        expect.stringMatching(/^mounts\.files\.include: unknown option; use one of root, /),
      ]),
    );
    expect(problems).toHaveLength(13);
  });

  it.each([
    [undefined, "the options must be an object"],
    [[source], "the options must be an object"],
    [{ name: "n" }, "mounts: is missing; pass mounts by name, as in { notes: source }"],
    [{ name: "n", mounts: [source] }, "mounts: must be an object; pass mounts by name"],
    [{ name: "n", mounts: {} }, "mounts: is empty; pass mounts by name"],
    [{ name: "n", mouts: { n: source } }, 'mouts: unknown option; did you mean "mounts"?'],
    [{ name: "", mounts: { n: source } }, "name: must not be empty"],
    [{ name: "n", mounts: { n: source }, pageSize: 0 }, "pageSize: must be at least 1"],
    [{ name: "n", mounts: { n: source }, cursorKey: new Uint8Array(8) }, "the cursor key must have 32 bytes"],
  ])("%j", async (options, message) => {
    for (const opening of [createApp, serve]) {
      const [first, ...more] = await problemsOf(opening, options);
      expect(first).toContain(message);
      expect(more).toEqual([]);
    }
  });

  it.each([70_000, -1, 1.5, NaN, "abc", "", " 80", "0x50", null])("name the port %j", async (port) => {
    const [problem] = await problemsOf(serve, { name: "n", mounts: { n: source }, port });
    expect(problem).toBe(
      `port: must be a whole number from 0 to 65535, not ${typeof port === "string" ? JSON.stringify(port) : port}`,
    );
  });
});

it("a port may come from the environment, as a string", async () => {
  const serving = await serve({ name: "n", mounts: { n: source }, port: "0" });
  onTestFinished(() => serving.close());
  expect(Number(new URL(serving.url).port)).toBeGreaterThan(0);
});

it.each(["http", undefined] as const)("transport %j is HTTP", async (transport) => {
  const serving = await serve({ name: "n", mounts: { n: source }, port: 0, transport });
  onTestFinished(() => serving.close());
  expect(serving.url).toMatch(/^http:/);
});

it("docs/programs.md lists every option", () => {
  const [, page = ""] = readFileSync(new URL("../../docs/programs.md", import.meta.url), "utf8").split("## Options\n");
  const rows = new Set(
    [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\|/gm)].flatMap(([, names = ""]) => names.split(", ")),
  );
  const options = [appShape, serveShape, serveStdioShape].flatMap((shape) => Object.keys(shape(z)));
  expect([...rows].sort()).toEqual([...new Set(options.map((name) => `\`${name}\``))].sort());
});
