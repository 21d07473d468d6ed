import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openConfigFile } from "./config-file.ts";
import { createRuntime } from "./runtime.ts";

it("a config that an editor has emptied, and not written yet, does not take effect", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-saving-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "pressmark.config.yaml");
  const save = (names: readonly string[]) =>
    writeFileSync(
      file,
      JSON.stringify({ mounts: Object.fromEntries(names.map((name) => [name, { source: "file", root: "." }])) }),
    );
  save(["one"]);
  const plain = createRuntime({ write: () => true });
  const closing = new AbortController();
  let waited = 0;
  const opened = await openConfigFile(
    { file, named: true },
    { from: folder, env: {}, stateFolder: join(folder, "state") },
    {
      ...plain,
      wait(ms, signal) {
        if (ms !== 1000) return plain.wait(ms, signal);
        waited += 1;
        save(["one", "two"]);
        return Promise.resolve();
      },
    },
  );
  const applied = Promise.withResolvers<readonly string[]>();
  const following = opened!.follow(async ({ mounts }) => {
    applied.resolve(mounts.map(({ name }) => name));
    return "changed";
  }, closing.signal);
  writeFileSync(file, "");
  expect(await applied.promise).toEqual(["one", "two"]);
  expect(waited).toBe(1);
  closing.abort();
  await following;
});
