/** A config with a mount that cannot be used, as hosts meet it: over HTTP and stdio, in an old and the new revision. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { modernBody, modernHeaders, type Rpc, send } from "../hostile/attacker.ts";
import { createScratch, type Served, startPressmark, startServe } from "./pressmark-process.ts";

const scratch = createScratch();
const where = { cwd: scratch.folder, env: { ...scratch.env, PRESSMARK_LOG: "info" } };
const mounts = `mounts:
  docs: { source: file, root: docs, scheme: d, title: 社内文書, description: "規程と手順。\\nRead it first.", priority: 0.9 }
  db: { source: postgres, url: "postgres://me@localhost/shop", password: "\${file:secret}" }
`;
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const described = '"社内文書" (d://docs): "規程と手順。 Read it first.". Not available now: "db".';
let server: Served;

function write(text: string, name = "team.yaml"): void {
  writeFileSync(join(scratch.folder, "draft"), text);
  renameSync(join(scratch.folder, "draft"), join(scratch.folder, name));
}

beforeAll(async () => {
  mkdirSync(join(scratch.folder, "docs"));
  writeFileSync(join(scratch.folder, "docs/a.md"), "tea");
  write(mounts);
  server = await startServe(["--config", "team.yaml"], where);
});

afterAll(() => {
  server.child.kill("SIGKILL");
  scratch.remove();
});

async function ask(method: string, params: unknown = {}): Promise<Rpc["result"]> {
  const { text } = await send(server, {
    headers: modernHeaders(method),
    body: JSON.stringify(modernBody(method, params)),
  });
  return (JSON.parse(text) as Rpc).result;
}

/** The first response of `pressmark stdio`. */
async function askStdio(message: unknown): Promise<Rpc["result"]> {
  const { child, exited } = startPressmark(["stdio", "--config", "team.yaml"], where);
  child.stdin.write(`${JSON.stringify(message)}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdin.end();
    await exited;
    return (JSON.parse(line) as Rpc).result;
  }
  throw new Error("no response");
}

it("serves the others, and describes them to models of every revision", async () => {
  expect(server.errors).toMatch(
    /^pressmark warn: the mount "db" is left out: team\.yaml:3:\d+ mounts\.db\.password: no file "secret"; create it, /m,
  );
  const { text } = await send(server, { body: JSON.stringify(initialize) });
  const results = [
    (JSON.parse(text.replace(/^[^{]*/, "")) as Rpc).result,
    await ask("server/discover"),
    await askStdio(initialize),
    await askStdio(modernBody("server/discover", {})),
  ];
  for (const result of results) expect(result?.["instructions"]).toContain(described);
});

it("names the mount in lists, and takes it in when what it lacked is there", async () => {
  const list = async () =>
    (await ask("resources/list")) as { resources: { title: string }[]; _meta?: Record<string, unknown> };
  const page = await list();
  expect(page.resources.map(({ title }) => title)).toEqual(["社内文書/a.md"]);
  expect(page._meta).toMatchObject({
    "pressmark/failures": [{ mount: "db", message: expect.stringMatching(/^it is left out/) }],
  });
  write("hunter2\n", "secret");
  // The database does not respond; that is another failure, of a mount that is served.
  while (!server.errors.includes("the config changed and is in effect")) await once(server.child.stderr, "data");
  expect(JSON.stringify((await list())._meta)).not.toContain("left out");
  expect(JSON.stringify(await ask("server/discover"))).not.toContain("Not available now");
  expect(server.errors).not.toContain("hunter2");
}, 30_000);

it.each([
  ["server: { token: '${env:ABSENT}' }", "server.token"],
  ["rules: [{ allow: ['${env:ABSENT}'] }]", "rules[0].allow[0]"],
  ["redact: '${env:ABSENT}'", "redact"],
])("does not start with %s", async (settings, key) => {
  write(`${mounts}${settings}\n`, "unsafe.yaml");
  const started = startPressmark(["serve", "--port", "0", "--config", "unsafe.yaml"], where);
  expect(await started.exited).not.toBe(0);
  expect(started.errors).toContain(key);
});
