/** Grants of mounts that have problems at the moment when something else is trusted. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { grantPermissions, permissionsAsked } from "./grant-permissions.ts";
import { loadConfig } from "./load-config.ts";

let root: string;
let file: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-faulty-grants-")));
  for (const name of ["project", "one", "other"]) mkdirSync(join(root, name));
  file = join(root, "project/pressmark.config.yaml");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const around = (env: Readonly<Record<string, string>>) => ({ from: root, env, stateFolder: join(root, "state") });
const write = (mounts: Readonly<Record<string, unknown>>) => writeFileSync(file, JSON.stringify({ mounts }));

async function trust(env: Readonly<Record<string, string>>): Promise<void> {
  await grantPermissions(file, await permissionsAsked(file, around(env)), around(env));
}

async function loaded(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const result = await loadConfig({ file, named: false }, around(env));
  return "config" in result ? result.config.mounts.map(({ name }) => name) : [];
}

const one = { source: "file", root: "${env:ONE}" };
const other = { source: "file", root: "../other" };

it("stay, bound to their text and to what they led to", async () => {
  write({ one });
  await trust({ ONE: "../one" });
  write({ one, other });
  await trust({});
  expect(await loaded({ ONE: "../one" })).toEqual(["one", "other"]);
  expect(await loaded({ ONE: "../other" })).toEqual(["other"]);
  write({ one: { ...one, hidden: true }, other });
  expect(await loaded({ ONE: "../one" })).toEqual(["other"]);
});

it("end with their mounts", async () => {
  write({ one });
  await trust({ ONE: "../one" });
  write({ other });
  await trust({});
  write({ one, other });
  expect(await loaded({ ONE: "../one" })).toEqual(["other"]);
});
