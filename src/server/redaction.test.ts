/** Secrets planted in every kind of mount must not appear in any output of the server. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { gather } from "../context/gather.ts";
import { type Planted, plantedSecrets } from "../lib/test-secrets.ts";
import type { Call } from "../resources.ts";
import { clear, testRepository } from "../sources/git/test-repository.ts";
import { type Server, type OpenServerOptions, openServer } from "./open-server.ts";

let root: string;
let pressmark: Server | undefined;
let said: string;
let stop: AbortController;
let call: Call;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-redaction-")));
  said = "";
  stop = new AbortController();
  call = { caller: { id: "test" }, signal: stop.signal };
});
afterEach(async () => {
  stop.abort();
  await pressmark?.close();
  pressmark = undefined;
  rmSync(root, { recursive: true, force: true });
  await clear();
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function open(config: string): Promise<Server> {
  put("pressmark.config.yaml", config);
  const env = {
    XDG_STATE_HOME: join(root, "state"),
    XDG_CACHE_HOME: join(root, "cache"),
    HOME: root,
    PRESSMARK_LOG: "info",
  };
  const err = {
    write(line: string) {
      said += line;
      return true;
    },
  } as OpenServerOptions["err"];
  pressmark = await openServer({ folders: [], config: "pressmark.config.yaml", from: root, env, err });
  return pressmark;
}

const planted = plantedSecrets(5, 1);

function textOf(secrets: readonly Planted[]): string {
  return `# Settings of the harbour\n\nThe harbour is described here.\n\n${secrets.map(({ text }) => text).join("\n\n")}\n\n## Afterword\n\nThe end.\n`;
}

/** The output of every operation as one text, including errors. */
async function everything({ resources, index }: Server, asked: readonly string[]): Promise<string> {
  await index.caughtUp({ signal: call.signal });
  const out: unknown[] = [];
  const take = async (answer: Promise<unknown>): Promise<void> => {
    try {
      out.push(await answer);
    } catch (cause) {
      const { message, details } = cause as { readonly message: string; readonly details?: unknown };
      out.push(message, details);
    }
  };
  const listed = await resources.list({}, call);
  const templates = await resources.templates({}, call);
  out.push(listed, templates);
  for (const uri of [...listed.items.map((each) => each.uri), ...asked]) {
    await take(resources.stat(uri, call));
    await take(resources.read(uri, call));
    if (uri.includes("?")) continue;
    for (const range of ["lines=9-12", "lines=40-", "lines=zero", "bytes=300-400", "as=text"])
      await take(resources.read(`${uri}?${range}`, call));
  }
  const given = { ref: "main", lang: "en", path: "settings.md" };
  for (const { uriTemplate } of templates.items)
    for (const variable of ["path", "name", "ref", "heading", "sha"])
      if (new RegExp(`\\b${variable}\\b`).test(uriTemplate))
        await take(resources.complete({ template: uriTemplate, variable, value: "", given }, call));
  for (const text of [
    "harbour",
    "settings",
    ...planted.filter((_, at) => at % 25 === 0).map(({ secret }) => secret.slice(0, 40)),
  ])
    await take(resources.search({ text, limit: 20 }, call));
  await take(gather(resources, { task: "How are the settings of the harbour?", budget: 20_000 }, call));
  return JSON.stringify(out, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  );
}

/** Detects secrets even in part: any 18 characters contain one of these pieces. */
function leaksIn(text: string): string[] {
  const isThere = (secret: string) =>
    Array.from({ length: Math.ceil(secret.length / 6) }, (_, at) => secret.slice(12 + at * 6, 24 + at * 6)).some(
      (piece) => piece.length === 12 && text.includes(piece),
    );
  return planted
    .filter(({ secret }) => text.includes(secret) || text.includes(secret.slice(-12)) || isThere(secret))
    .map(({ kind }) => kind);
}

function buildSettings(): void {
  const secrets = Object.fromEntries(planted.map(({ secret }, at) => [`NAME_${at}`, secret]));
  put(
    ".env",
    Object.entries(secrets)
      .map(([name, value]) => `${name}="${value}"`)
      .join("\n"),
  );
  put("app.json", JSON.stringify({ list: planted.map(({ secret }) => secret), ...secrets }, undefined, 1));
  put("broken.json", `{"a": "${planted[0]!.secret}", "b": ${planted[1]!.secret}}`);
}

function build(): { readonly asked: readonly string[] } {
  put("files/settings.txt", textOf(planted));
  put("documents/settings.md", textOf(planted));
  const repository = testRepository([], join(root, "repository"));
  const first = repository.commit("begin", { "settings.md": "The harbour.\n" });
  const second = repository.commit(`add ${planted[0]!.secret}`, { "settings.md": textOf(planted) });
  const half = textOf(planted).split("\n");
  repository.commit("change the middle of it", {
    "settings.md": half.map((line, at) => (at % 7 === 3 ? `${line} ` : line)).join("\n"),
  });
  return {
    asked: [
      "git://history/blob/main/settings.md",
      "git://history/blame/main/settings.md",
      `git://history/commit/${second}`,
      `git://history/diff/${first}/${second}`,
      `git://history/diff/${second}/main`,
      "docs://documents/en/settings.md?heading=afterword",
      "docs://documents/en/settings.md?heading=settings-of-the-harbour",
    ],
  };
}

const mounts = `
mounts:
  files: { source: file, root: files }
  documents: { source: docs, root: documents }
  history: { source: git, root: repository }
`;
const settings =
  "  settings: { source: config, root: ., files: [.env, app.json, broken.json], env: false, show: ['*'] }\n";

it(
  "where the house masks secrets none comes out of any door, nor into the log or the index",
  { timeout: 60_000 },
  async () => {
    const { asked } = build();
    buildSettings();
    const out = await everything(await open(`redact: true\n${mounts}${settings}`), asked);
    expect(out).toContain("The harbour is described here.");
    expect(out).toContain("[masked]");
    expect(leaksIn(out)).toEqual([]);
    expect(leaksIn(said)).toEqual([]);
  },
);

it("settings are masked even without redact", { timeout: 60_000 }, async () => {
  buildSettings();
  const out = await everything(await open(`mounts:\n${settings}`), []);
  expect(out).toContain("NAME_0");
  expect(out).toContain("fingerprint");
  expect(leaksIn(out)).toEqual([]);
  expect(leaksIn(said)).toEqual([]);
});

it("a mount may be masked alone, and one may be left out", { timeout: 60_000 }, async () => {
  put("files/settings.txt", textOf(planted));
  put("more/settings.txt", textOf(planted));
  const { resources } = await open(
    "redact: true\nmounts:\n  files: { source: file, root: files }\n  more: { source: file, root: more, redact: false }\n",
  );
  const read = async (path: string) => JSON.stringify(await resources.read(`file://${root}/${path}`, call));
  expect(leaksIn(await read("files/settings.txt"))).toEqual([]);
  expect(leaksIn(await read("more/settings.txt")).length).toBeGreaterThan(20);
});
