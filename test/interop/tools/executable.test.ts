/** The single executable: alone in a folder, without Node, node_modules or settings around. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { buildExecutable, cannotDownload } from "../../../scripts/build-executable.ts";
import { docx, pdf } from "../../../src/backends/documents/test-documents.ts";
import { overStdio, visitV2 } from "../sdk-v2.ts";

let root: string;
let program: string;
/** A folder with a config of many sources. */
let project: string;
let env: Record<string, string>;
/** Why it could not be built. */
let missing: string | undefined;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-single-")));
  [program, project] = [join(root, "elsewhere/pressmark"), join(root, "project")];
  env = { HOME: join(root, "home"), PATH: "/usr/bin:/bin" };
  await buildExecutable(join(root, "built/pressmark")).catch((cause: Error) => {
    if (cause.message !== cannotDownload || process.env["CI"]) throw cause;
    missing = cause.message;
  });
  if (missing !== undefined) return;
  for (const folder of ["elsewhere", "home", "project/notes", "project/guide"])
    await mkdir(join(root, folder), { recursive: true });
  await rename(join(root, "built/pressmark"), program);
  await rm(join(root, "built"), { recursive: true });
  await writeFile(join(project, "notes/ink.md"), "# Ink\n\nInk dries overnight. 予算は十分です。\n");
  await writeFile(join(project, "notes/press.pdf"), pdf([["The platen press"]]));
  await writeFile(join(project, "notes/type.docx"), docx("<w:p><w:r><w:t>Movable type</w:t></w:r></w:p>"));
  await writeFile(join(project, "guide/start.md"), "---\ntitle: How to begin\n---\n\n# Start\n");
  await writeFile(join(project, "settings.toml"), "[paper]\nsize = 'A4'\n");
  const database = new DatabaseSync(join(project, "shop.db"));
  database.exec("CREATE TABLE paper (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO paper VALUES (1, 'laid')");
  database.close();
  await writeFile(
    join(project, "sky.ts"),
    `import { defineSource } from "pressmark/source";
     import { z } from "zod";
     export default defineSource({
       name: "sky",
       scheme: "sky",
       summary: "The sky",
       options: () => z.strictObject({ weather: z.string() }),
       open: async ({ weather }: { weather: string }) => ({
         list: async () => ({ items: [{ path: "now" }] }),
         read: async () => [{ body: { text: weather } }],
       }),
     });`,
  );
  await writeFile(
    join(project, "pressmark.config.yaml"),
    `mounts:
  notes: { source: file, root: notes }
  guide: { source: docs, root: guide }
  shop: { source: sqlite, path: shop.db, rows: true }
  settings: { source: config, root: ., files: [settings.toml], show: ["*"] }
  sky: { source: ./sky.ts, weather: clear }
  other: { source: mcp, command: ${program}, args: [stdio, ${join(project, "notes")}], scheme: other }
  pg: { source: postgres, url: "postgres://nobody@127.0.0.1:9/none" }
  keys: { source: redis, url: "redis://127.0.0.1:9/0" }
  bucket: { source: s3, buckets: [none], region: x, endpoint: "http://127.0.0.1:9" }
`,
  );
});
beforeEach((context) => {
  if (missing !== undefined) context.skip(missing);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const run = promisify(execFile);

/** Runs a command in the project; returns what it prints, also if it fails. */
async function command(...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(program, words, { cwd: project, env }).catch(
    (failed: { readonly stdout: string; readonly stderr: string }) => failed,
  );
  return stdout + stderr;
}

describe("the executable", () => {
  it("prints its version, also by a link", async () => {
    await symlink(program, join(root, "link"));
    expect((await run(join(root, "link"), ["--version"], { env, cwd: root })).stdout).toBe(
      `pressmark ${manifest.version}\n`,
    );
  });

  it.each(["legacy", { pin: "2026-07-28" }] as const)("serves a client over stdio: %o", async (mode) => {
    const notes = join(project, "notes");
    await using visitor = await visitV2(overStdio({ command: program, args: ["stdio", notes], env }), mode);
    const uri = (name: string) => pathToFileURL(join(notes, name)).href;
    expect((await visitor.pages()).flat()).toEqual(["ink.md", "press.pdf", "type.docx"].map(uri));
    expect(await visitor.read(uri("ink.md"))).toMatchObject([
      { text: expect.stringContaining("dries overnight") as unknown },
    ]);
    expect(await visitor.read(`${uri("press.pdf")}?as=text`)).toMatchObject([
      { text: expect.stringContaining("The platen press") as unknown },
    ]);
    expect(await visitor.read(`${uri("type.docx")}?as=text`)).toMatchObject([
      { text: expect.stringContaining("Movable type") as unknown },
    ]);
    const search = { name: "search_resources", arguments: { query: "予算" } };
    // The index is made by a thread.
    await expect
      .poll(async () => JSON.stringify((await visitor.client.callTool(search)).content), { timeout: 30_000 })
      .toContain("ink.md");
    await visitor.watch(uri("ink.md"));
    await writeFile(join(notes, "ink.md"), `# Ink\n\nInk dries overnight. 予算は十分です。${JSON.stringify(mode)}\n`);
    await visitor.heard.next(`updated ${uri("ink.md")}`);
  });

  it("serves the mounts of a config, each with its threads, processes and packages", async () => {
    expect(await command("trust", "--yes")).toContain("trusted");
    expect(await command("read", "sky://sky/now")).toContain("clear");
    expect(await command("read", "sqlite://shop.db/paper/rows")).toContain("laid");
    expect(await command("ls", "docs://guide/en", "--json")).toContain("How to begin");
    const findings = await command("doctor");
    for (const name of ["notes", "guide", "shop", "settings", "sky", "other"])
      expect(findings).toContain(`ok      mount ${name}:`);
    for (const name of ["pg", "keys", "bucket"]) expect(findings).toContain(`BROKEN  mount ${name}:`);
    expect(findings).not.toContain("the package");
  });

  it("serves the page of the picker", async () => {
    const child = spawn(program, ["serve", "notes", "--port", "0"], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let url: string | undefined;
      for await (const line of createInterface(child.stdout)) {
        url = /Browse, search and choose in a browser: (\S+)/.exec(line)?.[1];
        if (url !== undefined) break;
      }
      const page = await (await fetch(url!)).text();
      const script = /src="([^"]+\.js)"/.exec(page)![1]!;
      const { status, headers } = await fetch(new URL(script, url));
      expect([status, headers.get("content-encoding")]).toEqual([200, "gzip"]);
    } finally {
      child.kill();
      await once(child, "exit");
    }
    expect(child.exitCode).toBe(0);
  });

  it("counts tokens exactly", async () => {
    expect(await command("gather", "ink", "--exact", "--folder", join(project, "notes"))).toContain("(o200k_base)");
  });

  it("reports which packages it contains", async () => {
    const { stdout } = await run(program, ["report"], { cwd: join(root, "home"), env });
    expect(stdout).toMatch(/\bpg\b.*in the executable/);
    expect(stdout).toMatch(/\bvitest\b.*not installed/);
  });

  it("adds itself to a host by its own path", async () => {
    expect(await command("add", "claude-desktop", "--yes")).toContain(JSON.stringify(program));
  });
});
