/** Settings of hosts that are not plain files. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hostFiles } from "./hosts.ts";
import { planChange, readEntry } from "./settings.ts";

let project: string;
let file: string;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-settings-")));
  file = join(project, ".mcp.json");
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const kinds: Readonly<Record<string, () => void>> = {
  folder: () => mkdirSync(file),
  ...(process.platform !== "win32" && {
    pipe: () => execFileSync("mkfifo", [file]),
    "link to a device": () => symlinkSync("/dev/zero", file),
  }),
};

it.each(Object.keys(kinds))("a %s is refused, and not read", (kind) => {
  kinds[kind]!();
  const [host] = hostFiles({ project, home: project, env: {}, platform: "linux" });
  const refusal = `"${file}" is not a file, so it is not read`;
  expect(() => readEntry(host!)).toThrow(refusal);
  expect(() => planChange(host!, { kind: "http", url: "http://127.0.0.1:1/mcp" })).toThrow(refusal);
});

it("a file of more than 4 MiB is refused", () => {
  const [host] = hostFiles({ project, home: project, env: {}, platform: "linux" });
  writeFileSync(file, "{}".padEnd(4 * 1024 * 1024));
  expect(readEntry(host!)).toBeUndefined();
  truncateSync(file, 4 * 1024 * 1024 + 1);
  expect(() => readEntry(host!)).toThrow(`"${file}" is larger than 4 MiB, so it is not read`);
});
