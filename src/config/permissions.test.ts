import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import config from "../sources/config.ts";
import docs from "../sources/docs.ts";
import file from "../sources/file.ts";
import type { SourceDefinition } from "../source.ts";
import { createIsIgnored } from "./ignored.ts";
import { mountReasons } from "./permissions.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-permissions-")));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function asked(options: Readonly<Record<string, unknown>>, definition = docs as SourceDefinition): Promise<string[]> {
  const mount = {
    name: "m",
    definition,
    options: definition.options(z).parse({ root: folder, ...options }),
    limits: {},
  };
  const path = realpathSync(folder);
  return mountReasons(mount, { path, isIgnored: createIsIgnored(path) });
}

describe("documentation", () => {
  it("of a folder needs no trust, as its files do not", async () => {
    expect(await asked({ prefer: "ja", rules: [{ match: "**", priority: 1 }] })).toEqual([]);
  });

  it("needs trust for what is hidden, for what is ignored, and for what is only in the history", async () => {
    mkdirSync(join(folder, ".notes"));
    expect(await asked({ root: join(folder, ".notes") })).toEqual(['serves the hidden folder ".notes", for mounts.m']);
    expect(await asked({ hidden: true, ignore: false, allow: [".env"], ref: "v1" })).toEqual([
      "serves hidden names, for mounts.m",
      "serves what git ignores, for mounts.m",
      'serves ".env" even if hidden, ignored or a secret by its name, for mounts.m',
      'serves "v1" of a git repository, for mounts.m',
    ]);
  });
});

describe("files", () => {
  it("need trust to start a program for pictures", async () => {
    expect(await asked({}, file as SourceDefinition)).toEqual([]);
    for (const ocr of [true, ["eng"]])
      expect(await asked({ ocr }, file as SourceDefinition)).toEqual([
        "starts the program tesseract for its pictures, for mounts.m",
      ]);
  });

  it("name languages that cannot be paths or options of the program", () => {
    for (const name of ["../x", "-c", "jpn+eng", "/tmp/a", ""])
      expect(file.options(z).safeParse({ root: folder, ocr: [name] }).success).toBe(false);
    expect(file.options(z).safeParse({ root: folder, ocr: ["jpn_vert", "eng"] }).success).toBe(true);
  });
});

describe("settings", () => {
  it("of files in the folder need no trust while they are masked", async () => {
    expect(await asked({ files: ["app.yaml"], env: false }, config as SourceDefinition)).toEqual([]);
  });

  it("need trust for the environment, for hidden files, and for every value that is shown", async () => {
    expect(await asked({ files: [".env", "conf/.secret.ini"], show: ["PORT"] }, config as SourceDefinition)).toEqual([
      'serves the names that ".env" sets, for mounts.m',
      'serves the names that "conf/.secret.ini" sets, for mounts.m',
      "serves the names of the environment's variables, for mounts.m",
      'shows the values of "PORT", for mounts.m',
    ]);
  });
});
