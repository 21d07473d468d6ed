import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import docs from "../sources/docs.ts";
import { mountPermissions } from "./permissions.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-permissions-")));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function asked(options: Readonly<Record<string, unknown>>): string[] {
  const written = { source: "docs", ...options };
  const mount = {
    name: "m",
    definition: docs,
    options: docs.options(z).parse({ root: folder, ...options }),
    limits: {},
  };
  return mountPermissions(mount, folder, { mounts: { m: written } }).map(({ sentence }) => sentence);
}

describe("documentation", () => {
  it("of a folder needs no trust, as its files do not", () => {
    expect(asked({ prefer: "ja", rules: [{ match: "**", priority: 1 }] })).toEqual([]);
  });

  it("needs trust for what is hidden, for what is ignored, and for what is only in the history", () => {
    mkdirSync(join(folder, ".notes"));
    expect(asked({ root: join(folder, ".notes") })).toEqual(['serves the hidden folder ".notes", for mounts.m']);
    expect(asked({ hidden: true, ignore: false, allow: [".env"], ref: "v1" })).toEqual([
      "serves hidden names, for mounts.m",
      "serves what git ignores, for mounts.m",
      'serves ".env" even if hidden, ignored or a secret by its name, for mounts.m',
      'serves "v1" of a git repository, for mounts.m',
    ]);
  });
});
