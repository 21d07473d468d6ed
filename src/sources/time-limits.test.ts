/** A source that takes `timeoutMs` says so to the layers, which hold every question to it: one step after another is no way around. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime } from "../server/runtime.ts";
import type { SourceDefinition } from "../source.ts";
import { sources } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "pressmark-limits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What each source that takes it needs beside it. */
const needed: Readonly<Record<string, object>> = {
  analysis: { path: join(folder, "results.db") },
  gcs: { buckets: ["b"], anonymous: true },
  gdrive: { anonymous: true, keep: false },
  mcp: { url: "http://127.0.0.1:1/mcp" },
  metrics: { url: "http://127.0.0.1:1" },
  postgres: { url: "postgres://reader@127.0.0.1:1/shop" },
  redis: { url: "redis://127.0.0.1:1" },
  s3: { buckets: ["b"], anonymous: true },
  sqlite: { path: join(folder, "app.db") },
  web: { hosts: ["docs.example.com"] },
};

const definitions = await Promise.all(
  Object.values(sources).map(async (load) => (await load()).default as SourceDefinition),
);

function takesTimeLimit({ options }: SourceDefinition): boolean {
  const schema = z.toJSONSchema(options(z), { io: "input", unrepresentable: "any" });
  return JSON.stringify(schema).includes('"timeoutMs"');
}

it("knows every source that takes a time limit", () => {
  expect(
    definitions
      .filter(takesTimeLimit)
      .map(({ name }) => name)
      .sort(),
    'add the options that it requires to "needed" in time-limits.test.ts',
  ).toEqual(Object.keys(needed).sort());
});

it.each(Object.keys(needed))("%s is held to its time limit as a whole", async (name) => {
  const { options, open } = definitions.find((each) => each.name === name)!;
  const source = await open(
    options(z).parse({ ...needed[name], timeoutMs: 1234 }),
    createRuntime({ write: () => true }),
  );
  expect(source.timeoutMs).toBe(1234);
  await source.close?.();
});
