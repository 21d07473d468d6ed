import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processMark, removeLeftovers } from "./leftovers.ts";

const uuid = "0b8e2f4a-9c1d-4e5f-8a7b-6c5d4e3f2a1b";
const dead = spawnSync(process.execPath, ["-e", ""]).pid;
const markOf = (pid: number, machine = hostname()) =>
  `.pressmark-${machine.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}-${pid}-`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-leftovers-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, agoMs = 0): void {
  writeFileSync(join(folder, name), "");
  const at = new Date(Date.now() - agoMs);
  utimesSync(join(folder, name), at, at);
}

describe("leftovers of killed processes", () => {
  it("are removed, and files of running processes stay", () => {
    put(`.a${markOf(dead)}1`);
    put(`.a${markOf(process.ppid)}1`);
    put(`.a${processMark()}1`);
    removeLeftovers(folder);
    expect(readdirSync(folder).toSorted()).toEqual([`.a${markOf(process.ppid)}1`, `.a${processMark()}1`].toSorted());
  });

  it("are recognised by age if the process id is in use again, or belongs to another machine", () => {
    const hourMs = 3_600_000;
    for (const [name, mark] of [
      ["reused", markOf(process.ppid)],
      ["elsewhere", markOf(dead, "another-machine")],
    ] as const) {
      put(`.${name}${mark}1`, hourMs - 60_000);
      put(`.${name}${mark}2`, hourMs + 60_000);
    }
    // This process has the id of an earlier one.
    put(`.restarted${processMark()}1`, process.uptime() * 1000 + 60_000);
    removeLeftovers(folder);
    expect(readdirSync(folder)).toEqual([
      `.elsewhere${markOf(dead, "another-machine")}1`,
      `.reused${markOf(process.ppid)}1`,
    ]);
  });

  it("of earlier versions are removed when nothing can be writing them any more", () => {
    const names = ["cursor-key", ".pressmark.config.yaml", `${"0123456789abcdef".repeat(2)}.json`, "changed"];
    for (const name of names) {
      put(`${name}.${uuid}`, 120_000);
      put(`${name}.${uuid.replace("0", "1")}`);
    }
    removeLeftovers(folder);
    expect(readdirSync(folder).toSorted()).toEqual(names.map((name) => `${name}.${uuid.replace("0", "1")}`).toSorted());
  });

  it("are nothing else: no other name, no link, no folder", () => {
    const names = [`notes.${uuid}`, ".env", "pressmark-a-1-b", `.a${markOf(dead)}`, "cursor-key"];
    for (const name of names) put(name, 1e9);
    symlinkSync(join(folder, ".env"), join(folder, `.link${markOf(dead)}1`));
    mkdirSync(join(folder, `.folder${markOf(dead)}1`));
    const before = readdirSync(folder);
    removeLeftovers(folder);
    expect(readdirSync(folder)).toEqual(before);
  });

  it("may be folders, if requested", () => {
    mkdirSync(join(folder, `pressmark-git${markOf(dead)}1`, "info"), { recursive: true });
    mkdirSync(join(folder, `pressmark-git${processMark()}1`));
    removeLeftovers(folder, "folders");
    expect(readdirSync(folder)).toEqual([`pressmark-git${processMark()}1`]);
  });

  it("are ignored in a missing folder", () => {
    expect(() => removeLeftovers(join(folder, "nowhere"))).not.toThrow();
  });
});
