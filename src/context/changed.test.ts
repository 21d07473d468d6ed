import { afterAll, expect, it } from "vitest";
import { createRulesPolicy } from "../access/rules.ts";
import type { Call } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRuntime } from "../server/runtime.ts";
import { clear, testRepository } from "../sources/git/test-repository.ts";
import { gather } from "./gather.ts";

afterAll(clear);

const callOf = (id: string): Call => ({ caller: { id }, signal: new AbortController().signal });

it("changes of hidden files show neither content, name nor count", async () => {
  const repository = testRepository();
  repository.commit("begin", {
    "open.md": "# Open\n\nkettle\n",
    "wombat.md": "# Wombat\n",
    "private/burrow.md": "wombat\n",
  });
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.commit("work", { "open.md": "# Open\n\nthe kettle boils\n", "wombat.md": "# Wombat\n\nburrow\n" });
  repository.write("private/burrow.md", "wombat again\n");
  repository.write("private/burrow-new.md", "wombat\n");
  const root = repository.folder;
  const resources = createResources({
    mounts: [{ name: "history", base: "git://project/", source: await repository.open() }],
    policy: createRulesPolicy([
      { allow: ["anyone"] },
      { deny: ["caller:aki"], files: [`${root}/wombat.md`, `${root}/private`] },
    ]),
    runtime: createRuntime({ write: () => true }),
    cursorKey: new Uint8Array(32),
  });
  const hidden = await gather(resources, { changed: "main" }, callOf("aki"));
  expect(JSON.stringify(hidden)).not.toMatch(/wombat|burrow|not shown/i);
  expect(hidden.text).toContain("+the kettle boils");
  expect(hidden.receipt.changed).toEqual({ base: "main", files: 1 });
  const all = await gather(resources, { changed: true }, callOf("ben"));
  expect(all.text).toContain("+wombat again");
  expect(all.receipt).toMatchObject({
    changed: { base: "main", files: 4 },
    leftOut: expect.arrayContaining([
      { uri: "git://project/changes?base=main&path=private/burrow-new.md", why: "is new, and its file is not served" },
    ]) as unknown,
  });
});
