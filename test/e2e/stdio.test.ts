/** The command over real pipes: a process that a host starts, talks to, and lets go. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { revisions, type Revision } from "../wire/schemas.ts";
import { textAt, urisIn } from "./answers.ts";
import type { Line } from "./line/line.ts";
import { modernMeta } from "./line/line.ts";
import { readLines, stdioLine } from "./line/stdio-line.ts";

const command = fileURLToPath(new URL("child.ts", import.meta.url));

interface Started extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly folder: string;
  readonly exit: Promise<readonly [code: number | null, signal: string | null]>;
  uri(name: string): string;
  line(revision: Revision): Promise<Line>;
}

async function start(): Promise<Started> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "pressmark-stdio-")));
  await writeFile(join(folder, "page.md"), "# Ink\u2028and 日本語\n");
  const child = spawn(process.execPath, [command, "stdio", folder], {
    env: { ...process.env, XDG_STATE_HOME: join(folder, ".state"), XDG_CACHE_HOME: join(folder, ".state") },
  });
  const exit = once(child, "exit").then(([code, signal]) => [code as number | null, signal as string | null] as const);
  return {
    child,
    folder,
    exit,
    uri: (name) => pathToFileURL(join(folder, name)).href,
    line: (revision) =>
      stdioLine(revision, {
        input: child.stdin,
        output: child.stdout,
        async close() {
          child.stdin.end();
          await exit;
        },
      }),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe.for(revisions)("the command over stdio in %s", (revision) => {
  it("lists, reads, announces, and says nothing else on its output (LEG-35, LEG-36, MOD-52)", async () => {
    await using started = await start();
    const line = await started.line(revision);
    const page = started.uri("page.md");
    expect(urisIn(await line.result("resources/list"))).toContain(page);
    expect(await textAt(line, page)).toBe("# Ink\u2028and 日本語\n");
    const ear = await line.hear({ uris: [page] });
    await writeFile(join(started.folder, "page.md"), "# Paper\n");
    expect(await ear.next()).toEqual({ updated: page });
    await line.close();
    expect(await started.exit).toEqual([0, null]);
  });
});

describe("the command over stdio", () => {
  it("exits when its input ends, in the middle of a listen too (MOD-54)", async () => {
    await using started = await start();
    const line = await started.line("2026-07-28");
    await line.hear({ uris: [started.uri("page.md")], list: true });
    started.child.stdin.end();
    expect(await started.exit).toEqual([0, null]);
  });

  it("answers what was asked before its input ended (MOD-54)", async () => {
    await using started = await start();
    const { child } = started;
    const lines: string[] = [];
    readLines(child.stdout, (line) => lines.push(line));
    const ask = { jsonrpc: "2.0", id: "last", method: "resources/list", params: { _meta: modernMeta("2026-07-28") } };
    child.stdin.end(`${JSON.stringify(ask)}\n`);
    expect(await started.exit).toEqual([0, null]);
    expect(lines.map((line) => (JSON.parse(line) as { id?: unknown }).id)).toEqual(["last"]);
  });

  it("takes lines that come in pieces, blank lines and carriage returns (LEG-35, LEG-36, MOD-52)", async () => {
    await using started = await start();
    const { child } = started;
    const { promise, resolve } = Promise.withResolvers<string>();
    readLines(child.stdout, resolve);
    const ask = { jsonrpc: "2.0", id: "日本", method: "resources/list", params: { _meta: modernMeta("2026-07-28") } };
    const bytes = Buffer.from(`\n\r\n${JSON.stringify(ask)}\r\n`);
    for (const byte of bytes) child.stdin.write(Uint8Array.of(byte));
    expect(JSON.parse(await promise)).toMatchObject({ id: "日本", result: { resultType: "complete" } });
  });

  it("speaks both eras on one pipe (MOD-9)", async () => {
    await using started = await start();
    const line = await started.line("2025-11-25");
    await line.send({
      jsonrpc: "2.0",
      id: "modern",
      method: "server/discover",
      params: { _meta: modernMeta("2026-07-28") },
    });
    expect(await line.unasked.next()).toMatchObject({ id: "modern", result: { resultType: "complete" } });
    expect(await line.result("ping")).toEqual({});
  });
});
