/** Property: a config that was found does exactly what was granted, whatever it contains and however it changes. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Config } from "./config.ts";
import { grantPermissions, permissionsAsked } from "./grant-permissions.ts";
import { type ConfigContext, loadConfig } from "./load-config.ts";
import {
  after,
  createFolder,
  type Folder,
  foundConfig,
  isAsGranted,
  isHarmless,
  isSectionAsGranted,
  secrets,
  start,
  type State,
  step,
  type Surroundings,
} from "./test-found-config.ts";
import { createTrustStore } from "./trust.ts";

let root: string;
let folder: Folder;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-granted-")));
  folder = createFolder(root);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const ran = (globalThis as { pressmarkRan?: string[] }).pressmarkRan ?? [];
(globalThis as { pressmarkRan?: string[] }).pressmarkRan = ran;

interface Looked {
  readonly config: Config;
  /** Variables that were read. */
  readonly read: readonly string[];
}

function worldWith({ where }: Surroundings, read: string[] = []): ConfigContext {
  const env = new Proxy({ ...secrets, WHERE: where } as Record<string, string>, {
    get(target, name) {
      read.push(String(name));
      return target[String(name)];
    },
  });
  return { from: join(root, "project"), env, stateFolder: join(root, "state") };
}

async function look({ config, around }: State): Promise<Looked> {
  const file = join(root, "project/pressmark.config.json");
  folder.layOut(around);
  writeFileSync(file, JSON.stringify(config));
  const read: string[] = [];
  const loaded = await loadConfig({ file, named: false }, worldWith(around, read));
  if (!("config" in loaded)) throw new Error("it is no program, and belongs to this user");
  return { config: loaded.config, read };
}

/** Whether a server setting needs trust. */
function needsTrust(setting: string, value: unknown): boolean {
  return (
    JSON.stringify(value).includes("${") ||
    setting === "publicUrl" ||
    setting === "auth" ||
    setting === "tracing" ||
    (setting === "host" && value !== "127.0.0.1") ||
    (["allowedHosts", "allowedOrigins"].includes(setting) && (value as string[]).length > 0) ||
    (setting === "tools" && Array.isArray(value) && value.includes("save_set"))
  );
}

/** Throws if the config does more or less than it may. */
function judge(now: State, granted: State | undefined, { config, read }: Looked): void {
  const served = config.mounts.map(({ name }) => name);
  const asGranted = (name: string) => isAsGranted(name, granted, now);
  const expected = Object.entries(now.config.mounts)
    .filter(([name, options]) => isHarmless(options, now.around) || asGranted(name))
    .map(([name]) => name);
  // Custom sources come last, whatever their place in the config.
  expect(served.sort()).toEqual(expected.sort());

  const server = now.config.server ?? {};
  const mayServer = isSectionAsGranted("server", granted, now);
  expect(Object.keys(config.server).sort()).toEqual(
    Object.entries(server)
      .filter(([setting, value]) => mayServer || !needsTrust(setting, value))
      .map(([setting]) => setting)
      .sort(),
  );
  const search = now.config.search ?? {};
  const maySearch = isSectionAsGranted("search", granted, now);
  expect(Object.keys(config.search).sort()).toEqual(
    Object.keys(search)
      .filter((setting) => maySearch || setting !== "embeddings")
      .sort(),
  );

  // Only references that were granted as written may be resolved.
  const before: Readonly<Record<string, unknown>> = granted?.config.mounts ?? {};
  const mayRead = JSON.stringify([
    ...Object.entries(now.config.mounts).filter(
      ([name, options]) => JSON.stringify(before[name]) === JSON.stringify(options),
    ),
    ...(mayServer ? [server] : []),
    ...(maySearch ? [search] : []),
  ]);
  for (const name of read) expect(mayRead).toContain(`\${env:${name}`);
  for (const [name, value] of Object.entries(secrets))
    if (!mayRead.includes(`\${env:${name}`)) {
      expect(JSON.stringify(config)).not.toContain(value);
      expect(config.redact(value)).toBe(value);
    }

  // A program of the folder runs only if granted.
  for (const mark of ran.splice(0)) {
    expect(mark).toBe(`own.mjs ${now.around.files["own.mjs"]}`);
    expect(
      Object.entries(now.config.mounts).some(([name, { source }]) => source === "./own.mjs" && asGranted(name)),
    ).toBe(true);
  }
}

it("is so for every config, after every change", { timeout: 600_000 }, async () => {
  let trusted = 0;
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(foundConfig, fc.array(step, { minLength: 1, maxLength: 5 }), async (config, steps) => {
      rmSync(join(root, "state"), { recursive: true, force: true });
      let now: State = { config, around: start };
      let granted: State | undefined;
      judge(now, granted, await look(now));
      for (const each of steps) {
        now = after(now, each);
        const looked = await look(now);
        judge(now, granted, looked);
        changed += looked.config.withheld.filter(({ outdated }) => outdated !== undefined).length;
        const file = looked.config.file!;
        if (each.kind === "forget") {
          createTrustStore(join(root, "state")).forget(file);
          granted = undefined;
        }
        if (each.kind === "trust") {
          const world = worldWith(now.around);
          const asked = await permissionsAsked(file, world);
          expect(JSON.stringify(asked)).not.toContain("secret-of");
          await grantPermissions(file, asked, world);
          granted = now;
          trusted += 1;
          ran.splice(0);
          judge(now, granted, await look(now));
        }
      }
    }),
    // Set RUNS and SEED for more runs from another seed.
    { numRuns: Number(process.env["RUNS"] ?? 160), seed: Number(process.env["SEED"] ?? 20_261) },
  );
  // The property was really exercised.
  expect(trusted).toBeGreaterThan(50);
  expect(changed).toBeGreaterThan(30);
});
