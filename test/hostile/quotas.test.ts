/** Callers who flood the program are refused by their quotas; another caller with the same quotas is never refused. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { modernBody, modernHeaders, type Rpc } from "./attacker.ts";
import { type Program, startProgram } from "./program.ts";

const command = join(import.meta.dirname, "../../bin/pressmark.js");
const floods = ["requests", "bytes", "entries", "rows", "processes", "listens", "reads"] as const;
type Flood = (typeof floods)[number];
const names = [...floods, "calm", "scout"];

const files = Object.fromEntries([
  ["large.txt", "x".repeat(300_000)],
  ["README.md", "# Team\nkettle\n"],
  ...Array.from({ length: 300 }, (_, count) => [`notes/${count}.md`, `note ${count}\n`]),
]) as Record<string, string>;

let repository: string;
let program: Program;
const tokens = new Map<string, string>();

beforeAll(async () => {
  repository = mkdtempSync(join(tmpdir(), "pressmark-quotas-"));
  const git = (...words: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...words], { cwd: repository });
  git("init", "-q");
  writeFileSync(join(repository, "a.txt"), "one\ntwo\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  const config = `mounts:
  files: { source: file, root: . }
  history: { source: git, root: ${JSON.stringify(repository)}, search: false }
callers: { ${names.map((name) => `${name}: {}`).join(", ")} }
quotas:
  anyone:
    requestsPerMinute: 100
    bytesPerMinute: 1000000
    entriesPerMinute: 3000
    indexRowsPerMinute: 20000
    processMsPerMinute: 20000
    listens: 5
    concurrentReads: 4
  caller:processes: { processMsPerMinute: 10 }
  caller:reads: { requestsPerMinute: unlimited, processMsPerMinute: unlimited, concurrentReads: 1 }
`;
  program = await startProgram({ files: { ...files, "pressmark.yaml": config } });
  for (const name of names) {
    const words = ["token", "create", name, "--config", join(program.folder, "pressmark.yaml")];
    const env = { ...process.env, XDG_STATE_HOME: join(dirname(program.folder), "state") };
    tokens.set(
      name,
      /[\w-]{32,}/.exec(
        execFileSync(process.execPath, [command, ...words], { env, encoding: "utf8", stdio: "pipe" }),
      )![0],
    );
  }
}, 60_000);

afterAll(async () => {
  await program[Symbol.asyncDispose]();
  rmSync(repository, { recursive: true, force: true });
});

/** The status, and the quota that refused it. A listen that is accepted stays open until the end. */
async function ask(caller: string, method: string, params: Record<string, unknown> = {}) {
  const response = await fetch(`http://127.0.0.1:${program.port}/mcp`, {
    method: "POST",
    headers: {
      ...modernHeaders(method, params["uri"] ?? params["name"]),
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${tokens.get(caller)}`,
    },
    body: JSON.stringify(modernBody(method, params)),
  });
  if (method === "subscriptions/listen" && response.status === 200) return { status: 200, text: "" };
  const text = await response.text();
  const quota =
    response.status === 429 ? ((JSON.parse(text) as Rpc).error!.data as { quota: string }).quota : undefined;
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, quota, retryAfter, text };
}

const uri = (name: string) => `${program.base}${name}`;
const read = (caller: string, name: string) => ask(caller, "resources/read", { uri: uri(name) });
const search = (caller: string) =>
  ask(caller, "tools/call", { name: "search_resources", arguments: { query: "kettle" } });
const blame = (caller: string) => ask(caller, "resources/read", { uri: "git://history/blame/HEAD/a.txt" });
const listen = (caller: string) =>
  ask(caller, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri("README.md")] } });

/** What each of them repeats, how many times at once, and the quota that refuses it. */
const attacks: Readonly<Record<Flood, readonly [(caller: string) => ReturnType<typeof ask>, number, string]>> = {
  requests: [(caller) => ask(caller, "ping"), 1, "requestsPerMinute"],
  bytes: [(caller) => read(caller, "large.txt"), 1, "bytesPerMinute"],
  entries: [(caller) => ask(caller, "resources/list"), 1, "entriesPerMinute"],
  rows: [search, 1, "indexRowsPerMinute"],
  processes: [blame, 1, "processMsPerMinute"],
  listens: [listen, 1, "listens"],
  reads: [blame, 8, "concurrentReads"],
};

/** Repeats until the expected quota has refused a request ten times. */
async function flood(name: Flood): Promise<void> {
  const [attack, atOnce, quota] = attacks[name];
  let refused = 0;
  for (let round = 0; round < 300 && refused < 10; round += 1) {
    const answers = await Promise.all(Array.from({ length: atOnce }, () => attack(name)));
    for (const answer of answers) {
      expect([200, 404, 429], answer.text).toContain(answer.status);
      if (answer.status === 429) expect(answer.retryAfter).toMatch(/^[1-9]\d*$/);
      if (answer.quota === quota) refused += 1;
    }
  }
  expect(refused, `${name} was not refused by ${quota}`).toBeGreaterThanOrEqual(10);
}

it("whoever floods is refused, and who does not is served", { timeout: 120_000 }, async () => {
  await vi.waitFor(async () => expect((await search("scout")).text).toContain("README.md"), {
    timeout: 60_000,
    interval: 1000,
  });
  const over = Promise.all(floods.map(flood));
  for (let round = 0; round < 20; round += 1) {
    for (const name of ["README.md", "notes/1.md"]) expect(await read("calm", name)).toMatchObject({ status: 200 });
    if (round % 10 === 0)
      for (const one of [search, blame, listen]) expect(await one("calm")).toMatchObject({ status: 200 });
  }
  await over;
});
