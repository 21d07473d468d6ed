import { afterEach, beforeEach, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;

beforeEach(() => {
  stand = createStand();
  stand.write("public/a.md", "# A");
  stand.write("secrets/key", "k");
  stand.write("public/hidden/x.md", "# X");
  stand.write(
    "pressmark.yaml",
    `mounts:
  files: { source: file, root: . }
callers:
  aki: { groups: [support] }
  bo: { groups: [others] }
  me: { owner: true }
rules:
  - { allow: ["group:support"], paths: [public] }
  - { deny: ["caller:aki"], files: [public/hidden] }
  - { allow: ["group:suport"] }
`,
  );
});

afterEach(() => stand.remove());

const run = (...words: string[]) => stand.run([...words, "--config", "pressmark.yaml"]);

it("names the deciding rule", async () => {
  const may = await run("may", "aki", "public/a.md");
  expect(may.out).toBe(`aki may see ${stand.base}public/a.md: rule 1 (allow group:support; paths public)\n`);
  expect(may.code).toBe(0);
  const not = await run("may", "aki", "public/hidden/x.md");
  expect(not.out).toContain("aki may not see");
  expect(not.out).toContain("rule 2 (deny caller:aki; files ");
  expect(not.code).toBe(3);
  expect((await run("may", "aki", "secrets/key")).out).toContain("no rule allows it");
  expect((await run("may", "me", "secrets/key")).out).toContain("an owner sees everything");
});

it("prints JSON", async () => {
  expect(JSON.parse((await run("may", "aki", "public/a.md", "--json")).out)).toEqual({
    caller: "aki",
    uri: `${stand.base}public/a.md`,
    mount: "files",
    isAllowed: true,
    rule: 1,
    why: "rule 1 (allow group:support; paths public)",
  });
});

it("suggests the caller that was meant", async () => {
  expect(await run("may", "akii", "public/a.md")).toMatchObject({
    code: 3,
    err: expect.stringContaining('did you mean "aki"?'),
  });
});

it("doctor finds rules for nobody, mounts that nobody sees, and callers without a token", async () => {
  stand.write(
    "pressmark.config.yaml",
    `mounts:
  files: { source: file, root: . }
  other: { source: memory, resources: { a: "x" } }
callers: { aki: { groups: [support] } }
rules:
  - { allow: ["group:support"], mounts: [files] }
  - { deny: ["group:suport"] }
`,
  );
  await stand.run(["trust", "--yes"]);
  const { out } = await stand.run(["doctor"]);
  expect(out).toContain("rule 2 applies to nobody");
  expect(out).toContain("nobody but the owner can see the mount other");
  expect(out).toContain("aki has no valid token");
});
