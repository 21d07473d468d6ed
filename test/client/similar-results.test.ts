/** The built program says what matches and what is only similar: at the terminal, and to a model over stdio. */
import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectProgram } from "../../src/client/stdio.ts";
import { openSimilarServer, type SimilarServer } from "../../src/protocol/tools/test-similar.ts";

const program = join(import.meta.dirname, "../../bin/pressmark.js");
let folder: string;
let far: SimilarServer;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-similar-")));
  far = await openSimilarServer();
  const config = `mounts: { far: { source: mcp, url: "${far.url}", search: false } }\n`;
  writeFileSync(join(folder, "config.yaml"), config);
});
afterAll(async () => {
  await far.close();
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => ({ PATH: process.env["PATH"] ?? "", HOME: folder, XDG_STATE_HOME: join(folder, "state") });

/** The lines of standard output are sorted: the order of equal results is not promised. */
function run(...words: readonly string[]): Promise<{ code: unknown; lines: readonly string[]; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { cwd: folder, env: environment() }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, lines: out.trimEnd().split("\n").toSorted(), err }),
    );
  });
}

it("at the terminal, with exit code 3 if nothing matches", async () => {
  expect(await run("search", "beta", "gamma", "--server", far.url)).toEqual({
    code: 3,
    lines: ["both.md:1: beta alpha", "設計/決済.md:1: alpha beta"],
    err: 'pressmark: no match for "beta gamma"; similar:\n',
  });
  expect(await run("search", "alpha", "beta", "--similar", "--config", "config.yaml")).toEqual({
    code: 0,
    lines: [
      "mcp://far/memory:%2F%2Ffar/both.md:1: beta alpha",
      "mcp://far/memory:%2F%2Ffar/one.md:1: alpha",
      "mcp://far/memory:%2F%2Ffar/設計/決済.md:1: alpha beta",
    ],
    err: "pressmark: similar:\n",
  });
});

it("to a model", async () => {
  const args = [program, "stdio", "--config", "config.yaml"];
  const model = await connectProgram({ command: process.execPath, args, cwd: folder, env: environment() });
  try {
    const call = { caller: { id: "test" }, signal: AbortSignal.timeout(30_000) };
    const { texts, structured } = await model.useTool("search_resources", { query: "beta gamma" }, call);
    expect(texts[0]).toMatch(/^No match for "beta gamma"; these are similar\. Try other words, .*\n\n1\. /);
    expect(structured).toMatchObject({ results: [{ isMatch: false }, { isMatch: false }] });
    const { hits } = await model.search({ text: "alpha beta", limit: 5 }, call);
    expect(hits.map(({ isMatch }) => isMatch)).toEqual([true, true, false]);
  } finally {
    await model.close();
  }
});
