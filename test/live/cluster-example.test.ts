/** examples/cluster, as its README says to run it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { missingPrograms } from "../../examples/cluster/start-cluster.ts";

const run = promisify(execFile);
const script = join(import.meta.dirname, "../../examples/cluster/run.ts");
const missing = ["nginx", "haproxy"].flatMap((proxy) =>
  missingPrograms({ proxy: proxy as "nginx" | "haproxy", hasNats: true }),
);
const isThere = "CI" in process.env || missing.length === 0;

describe.skipIf(!isThere)(`the example of a cluster${isThere ? "" : ` (skipped: ${missing.join("; ")})`}`, () => {
  it.each([
    ["nginx and NATS", []],
    ["HAProxy, and no NATS", ["--proxy", "haproxy", "--no-nats"]],
  ])("checks itself with %s, and leaves nothing behind", async (_, words) => {
    const { stdout } = await run(process.execPath, [script, "--check", ...words]);
    expect(stdout).toContain("all is as it should be");
    const [, folder] = /serves (\S+)\/notes/.exec(stdout) ?? [];
    expect(folder?.startsWith(join(tmpdir(), "pressmark-cluster-"))).toBe(true);
    expect(existsSync(folder!)).toBe(false);
    expect(commandsThatName(folder!)).toEqual([]);
  });

  it.each([
    [["--bogus"], "Unknown option '--bogus'"],
    [["--proxy", "apache"], '--proxy takes nginx or haproxy, not "apache"'],
  ])("answers %j with what is wrong and the flags", async (words, sentence) => {
    const failed = await run(process.execPath, [script, ...words]).catch((cause: unknown) => cause);
    expect(failed).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(sentence) });
    const { stderr } = failed as { readonly stderr: string };
    expect(stderr).toContain("--no-nats  changes go through PostgreSQL");
    expect(stderr).not.toContain("    at ");
  });

  it("stops and removes everything on Ctrl-C", async () => {
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    let stdout = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      stdout += String(chunk);
      if (stdout.includes("Ctrl-C stops it")) child.kill("SIGINT");
    }
    expect((await ended)[0]).toBe(0);
    const [, folder] = /serves (\S+)\/notes/.exec(stdout) ?? [];
    expect(existsSync(folder!)).toBe(false);
    expect(commandsThatName(folder!)).toEqual([]);
  });
});

function commandsThatName(folder: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    const file = join("/proc", pid, "cmdline");
    if (!/^\d+$/.test(pid) || !existsSync(file)) return [];
    const words = readWords(file);
    return words.includes(folder) ? [words] : [];
  });
}

function readWords(file: string): string {
  try {
    return readFileSync(file, "utf8").replaceAll("\0", " ");
  } catch {
    // It has ended since.
    return "";
  }
}
