import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTrustStore } from "../config/trust.ts";
import { grantPermissions, permissionsAsked } from "../config/grant-permissions.ts";
import type { Call } from "../resources.ts";
import { examineFaulty } from "./examine-faulty.ts";
import { openServer, type OpenServerOptions, type Server } from "./open-server.ts";

let folder: string;
let pressmark: Server | undefined;
let said: string;
let heardSaid: (() => void)[];
const owner: Call = { caller: { id: "owner", owner: true }, signal: new AbortController().signal };
const leftOut = "it is left out because of a problem in the config; the operator sees it with pressmark doctor";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-faulty-")));
  for (const name of ["docs", "notes", "hr"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "docs/a.md"), "green tea");
  writeFileSync(join(folder, "notes/n.md"), "black tea");
  said = "";
  heardSaid = [];
});

afterEach(async () => {
  await pressmark?.close();
  pressmark = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function write(text: string, name = "pressmark.config.yaml"): void {
  writeFileSync(join(folder, ".draft"), text);
  renameSync(join(folder, ".draft"), join(folder, name));
}

const env = () => ({ XDG_STATE_HOME: join(folder, "state"), HOME: folder, PRESSMARK_LOG: "info", NOTES: "notes" });

async function open(text: string, more: Partial<OpenServerOptions> = {}): Promise<Server> {
  write(text);
  const err = {
    write(line: string) {
      said += line;
      for (const heard of heardSaid.splice(0)) heard();
      return true;
    },
  };
  pressmark = await openServer({
    folders: [],
    config: "pressmark.config.yaml",
    from: folder,
    env: env(),
    err: err as OpenServerOptions["err"],
    ...more,
  });
  return pressmark;
}

async function untilSaid(text: string): Promise<void> {
  while (!said.includes(text)) await new Promise<void>((resolve) => heardSaid.push(resolve));
}

async function jsonAt(where: string, { read }: Server["resources"]): Promise<unknown> {
  const [content] = (await read(where, owner)).contents;
  return JSON.parse(content && "text" in content.body ? content.body.text : "");
}

const uri = (path: string) => pathToFileURL(join(folder, path)).href;
const names = ({ mounts }: Server) => mounts.map(({ name }) => name);
const docs = "mounts:\n  docs: { source: file, root: docs }\n";
const absentNotes = `${docs}  notes: { source: file, root: "\${env:ABSENT}", scheme: n }\n`;

describe("a mount with a problem", () => {
  it.each([
    [
      "an absent variable",
      'source: file, root: "${env:ABSENT}"',
      /3:30 mounts\.bad\.root: .* "ABSENT" is not set; set it/,
    ],
    [
      "an absent file",
      'source: postgres, url: "postgres://a@b/c", password: "${file:absent}"',
      /3:\d+ mounts\.bad\.password: no file "absent"/,
    ],
    [
      "an unknown source",
      "source: fiel, root: docs",
      /3:18 mounts\.bad\.source: unknown source "fiel"; did you mean "file"/,
    ],
    [
      "an unknown option",
      "source: file, root: notes, hiden: true",
      /mounts\.bad\.hiden: unknown option; did you mean "hidden"/,
    ],
    [
      "an invalid list of excluded files",
      "source: file, root: notes, exclude: secrets",
      /mounts\.bad\.exclude: must be a list/,
    ],
    ["an unresolved redact", 'source: file, root: notes, redact: "${env:ABSENT}"', /mounts\.bad\.redact/],
    ["a missing folder", "source: file, root: nowhere", /mounts\.bad: folder ".*nowhere" does not exist; create it/],
    [
      "the URIs of another mount",
      "source: file, root: docs",
      /mounts\.bad: the mounts "docs" .* and "bad" .* share URIs/,
    ],
    ["a reference in its title", 'source: file, root: notes, title: "${env:NOTES}"', /bad\.title: is shown to clients/],
  ])("is left out and reported, and the others are served: %s", async (_what, mount, line) => {
    const { resources, ...server } = await open(`${docs}  bad: { ${mount} }\n`);
    expect(names(server as Server)).toEqual(["docs"]);
    expect(server.faulty).toMatchObject([{ name: "bad", isExpected: false, isKept: false }]);
    expect(server.faulty[0]!.problems[0]).toMatch(line);
    expect(said).toMatch(/^pressmark warn: the mount "bad" is left out: pressmark\.config\.yaml:3:/m);
    // No result claims to be complete.
    const page = await resources.list({}, owner);
    expect(page.items.map((each) => each.uri)).toEqual([uri("docs/a.md")]);
    expect(page.failures).toEqual([{ mount: "bad", message: leftOut }]);
    expect(await jsonAt("pressmark://status", resources)).toMatchObject({
      mounts: [
        { name: "docs" },
        { name: "bad", state: "left out", optional: false, problem: expect.stringMatching(line) },
      ],
    });
    expect(examineFaulty(server as Server)).toMatchObject([{ about: "mount bad", state: "broken" }]);
  });

  it("gives no hits, and a search says so", async () => {
    const { resources, index } = await open(absentNotes);
    await index.caughtUp(owner);
    const found = await resources.search({ text: "tea", limit: 10 }, owner);
    expect(found.hits.map(({ resource }) => resource.uri)).toEqual([uri("docs/a.md")]);
    expect(found).toMatchObject({ ready: 1, failures: [{ mount: "notes", message: leftOut }] });
    expect(await resources.skills?.({}, owner)).toEqual({
      items: [],
      failures: [{ mount: "notes", message: leftOut }],
    });
  });

  it("keeps its name and URIs: they say why they cannot be read, and no other mount takes them", async () => {
    const server = await open(`${absentNotes}  also: { source: memory, resources: { a: A }, scheme: n }\n`);
    await expect(server.resources.read("n://notes/n.md", owner)).rejects.toMatchObject({
      kind: "unavailable",
      passing: false,
      message: `the mount "notes" cannot be read: ${leftOut}`,
    });
    await server.close();
    const taking =
      "export default { name: 'own', summary: 'x', scheme: 'n', options: (z) => z.object({}), base: () => 'n://notes/', open: async () => ({ list: async () => ({ items: [] }), read: async () => [] }) };";
    write(taking, "own.ts");
    const other = await open(`${absentNotes}  own: { source: ./own.ts }\n`);
    expect(names(other)).toEqual(["docs"]);
    expect(other.faulty.map(({ problems: [line] }) => line)).toEqual([
      expect.stringMatching(/mounts\.notes\.root: the environment variable/),
      expect.stringMatching(/mounts\.own: the mounts "notes" .* and "own" .* share URIs/),
    ]);
  });

  it("that is optional is no failure if only this machine lacks it", async () => {
    const server = await open(`${absentNotes.replace("scheme: n", "scheme: n, optional: true")}`);
    expect((await server.resources.list({}, owner)).failures).toBeUndefined();
    expect(said).toMatch(/^pressmark info: the mount "notes" is optional and left out: /m);
    expect(said).not.toMatch(/^pressmark warn/m);
    expect(examineFaulty(server)).toMatchObject([{ about: "mount notes", state: "hint" }]);
    await expect(server.resources.read("n://notes/n.md", owner)).rejects.toMatchObject({
      kind: "unavailable",
      message: 'the mount "notes" cannot be read: it is optional, and missing on this machine',
    });
    await server.close();
    const taken = await open(`${docs}  same: { source: file, root: docs, optional: true }\n`);
    expect(examineFaulty(taken)).toMatchObject([{ about: "mount same", state: "broken" }]);
    await taken.close();
    const mistaken = await open(`${docs}  notes: { source: file, rot: notes, optional: true }\n`);
    expect(examineFaulty(mistaken).map(({ state }) => state)).toEqual(["broken"]);
  });

  it.each([
    ["source: file, root: nowhere", true],
    ["source: sqlite, path: nowhere.db, rows: [t], documents: [{ table: t, title: id, text: [id] }]", true],
    ["source: file, root: docs/a.md", false],
    ["source: sqlite, path: t.db, documents: [{ table: t, title: id, text: [id] }]", false],
  ])("that is optional is a failure if it is a mistake: %s", async (mount, isAbsent) => {
    const database = new DatabaseSync(join(folder, "t.db"));
    database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    database.close();
    const { faulty } = await open(`${docs}  bad: { ${mount}, scheme: bad, optional: true }\n`);
    expect(faulty.filter(({ isExpected }) => isExpected !== isAbsent)).toEqual([]);
    if (!isAbsent) expect(faulty).toHaveLength(1);
  });

  it.each(["..", ".", "\\0", "a/b", ""])(
    "because of its name %j is reported, and the others are served",
    async (name) => {
      const server = await open(`${docs}  "${name}": { source: file, root: notes }\n`);
      expect(names(server)).toEqual(["docs"]);
      expect((await server.resources.list({}, owner)).items).toHaveLength(1);
      expect(server.faulty[0]!.problems[0]).toContain("a mount's name must begin with");
      expect(said).toContain("is left out");
    },
  );

  it("is named in a set that contains its resources, by URI or by path", async () => {
    const sets = 'sets: { tea: { resources: [docs/a.md, "n://notes/n.md", nowhere/x.md] } }\n';
    const { resources } = await open(`${absentNotes}  gone: { source: file, root: nowhere }\n${sets}`);
    expect(await jsonAt("set://tea", resources)).toMatchObject({
      resources: [
        { uri: uri("docs/a.md"), title: "docs/a.md" },
        { uri: "n://notes/n.md", leftOut: "unavailable" },
        { uri: uri("nowhere/x.md"), leftOut: "unavailable" },
      ],
    });
  });

  it("stops the start if no other mount is left", async () => {
    const nothing = open(
      'mounts: { a: { source: file, root: "${env:ABSENT}" }, b: { source: file, root: nowhere } }\n',
    );
    await expect(nothing).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(
        /has 2 problems\n.*mounts\.b: folder .*\n.*mounts\.a\.root: |has 2 problems\n.*mounts\.a\.root: .*\n.*mounts\.b/,
      ),
    });
  });
});

describe("a problem that concerns more than one mount still stops the start", () => {
  it.each([
    'server: { token: "${env:ABSENT}" }',
    'server: { host: "${env:ABSENT}" }',
    'callers: { ana: { groups: ["${env:ABSENT}"] } }',
    "callers: { ana: { groups: staff } }",
    "rules: [{ allow: [anyone], mounts: [dcos] }]",
    "rules: [{ alow: [anyone] }]",
    'rules: [{ allow: ["${env:ABSENT}"] }]',
    'redact: "${env:ABSENT}"',
    "redact: yes please",
    "quotas: { anyone: { requestsPerMinute: 0 } }",
    "limits: { timeoutMs: -1 }",
    "mouts: {}",
    "sets: { x: { resources: [] } }",
    "search: { maxFileBytes: 0 }",
  ])("%s", async (settings) => {
    await expect(open(`${absentNotes}${settings}\n`)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("text that does not parse", async () => {
    await expect(open(`${docs}  notes: {`)).rejects.toMatchObject({ kind: "invalid" });
    await expect(open("mounts: [1]\n")).rejects.toMatchObject({ kind: "invalid" });
  });
});

describe("access rules beside a mount that is left out", () => {
  const guest: Call = { ...owner, caller: { id: "guest" } };
  const staff: Call = { ...owner, caller: { id: "ana", groups: ["staff"] } };
  const rules = "rules: [{ allow: [anyone], mounts: [docs] }, { allow: ['group:staff'], mounts: [docs, notes] }]\n";

  it.each([
    ["a text instead of options", `${docs}  notes: none\n`],
    ["an absent variable", absentNotes],
  ])("still hold, and hide its name: %s", async (_what, mounts) => {
    const { resources } = await open(mounts + rules);
    expect((await resources.list({}, guest)).failures).toBeUndefined();
    expect((await resources.search({ text: "tea", limit: 1 }, guest)).failures).toBeUndefined();
    await expect(resources.read("n://notes/n.md", guest)).rejects.toMatchObject({ kind: "not-found" });
    expect((await resources.list({}, staff)).failures).toEqual([{ mount: "notes", message: leftOut }]);
    expect((await resources.list({}, { ...owner, caller: { id: "nobody" } })).items).toHaveLength(1);
  });

  it("hide its name from a caller who may not see all files, since its own are not known", async () => {
    const files = "rules: [{ allow: [anyone] }, { deny: ['caller:guest'], files: [hr] }]\ncallers: { guest: {} }\n";
    const { resources } = await open(absentNotes + files);
    expect((await resources.list({}, guest)).failures).toBeUndefined();
    expect((await resources.list({}, staff)).failures).toHaveLength(1);
  });
});

const rulesFor = (mounts: string) =>
  `rules: [{ allow: [anyone], mounts: ${mounts}, paths: ["**"] }, { deny: ["caller:x"], files: [hr] }]\ncallers: { x: {} }\n`;

describe("in a running server", () => {
  const live = { live: true };

  it("a mount comes in when its file or a file that it refers to is there", async () => {
    const server = await open(`${docs}  notes: { source: file, root: "\${file:where}" }\n`, live);
    expect(names(server)).toEqual(["docs"]);
    write("notes\n", "where");
    await untilSaid("the config changed and is in effect");
    expect(names(server)).toEqual(["docs", "notes"]);
    expect(server.faulty).toEqual([]);
    expect((await server.resources.list({}, owner)).failures).toBeUndefined();
    expect(said.match(/is left out/g)).toHaveLength(1);
  });

  it("a broken edit of a mount leaves it as it was, and takes the rest of the edit", async () => {
    const server = await open(`${docs}  notes: { source: file, root: notes }\n`, live);
    write(`${docs}  notes: { source: file, rot: notes }\n  more: { source: memory, resources: { a: A } }\n`);
    await untilSaid("the config changed and is in effect");
    expect(said).toMatch(
      /the mount "notes" stays as it was: .* mounts\.notes\.rot: unknown option; did you mean "root"\?/,
    );
    expect(names(server).toSorted()).toEqual(["docs", "more", "notes"]);
    const page = await server.resources.list({}, owner);
    expect(page.items.map((each) => each.uri)).toContain(uri("notes/n.md"));
    expect(page.failures).toBeUndefined();
    expect(server.faulty).toMatchObject([{ name: "notes", isKept: true }]);
    said = "";
    write(docs);
    await untilSaid("the config changed and is in effect");
    expect(names(server)).toEqual(["docs"]);
    expect(server.faulty).toEqual([]);
  });

  it("a broken mount does not stay unmasked when its texts must be masked", async () => {
    const server = await open(`${docs}  notes: { source: file, root: notes }\n`, live);
    write(`${docs}  notes: { source: file, rot: notes }\nredact: true\n`);
    await untilSaid("the config changed and is in effect");
    expect(names(server)).toEqual(["docs"]);
    expect((await server.resources.list({}, owner)).failures).toEqual([{ mount: "notes", message: leftOut }]);
  });

  it.each([
    ["stays as it was under the same rules", "[docs]", "notes", ["docs", "notes"]],
    ["does not stay under other rules, which are about other content", "[docs, notes]", "hr", ["docs"]],
  ])("a broken mount %s", async (_what, allowed, folderName, expected) => {
    const server = await open(`${docs}  notes: { source: file, root: notes }\n${rulesFor("[docs]")}`, live);
    const edited = `${docs}  notes: { source: file, root: ${folderName}, descripton: x }\n`;
    write(`${edited}${rulesFor(allowed)}server: { pageSize: 7 }\n`);
    await untilSaid("the config changed and is in effect");
    expect(names(server)).toEqual(expected);
    const guest = { ...owner, caller: { id: "guest" } };
    await expect(server.resources.read(uri("notes/n.md"), guest)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("what the index holds of a mount is not found while it is left out, and not lost", async () => {
    const notes = `${docs}  notes: { source: file, root: notes }\n`;
    const server = await open(notes, live);
    await server.index.caughtUp(owner);
    const crawled = () => server.index.status?.mounts.map(({ name, documents }) => [name, documents]);
    expect(crawled()).toEqual([
      ["docs", 1],
      ["notes", 1],
    ]);
    // Masking makes it another mount, which cannot stay.
    write(`${docs}  notes: { source: file, rot: notes, redact: true }\n`);
    await untilSaid("the config changed and is in effect");
    expect((await server.resources.search({ text: "tea", limit: 9 }, owner)).hits).toHaveLength(1);
    await server.index.caughtUp(owner);
    const { openStore } = await import("../search/sqlite-store.ts");
    const store = openStore(join(server.index.place, "index.db"), { readOnly: true });
    expect(store.counts()).toMatchObject([{ mount: "docs" }, { mount: "notes", documents: 1 }]);
    store.close();
  });
});

const trusting = () => ({ from: folder, env: env(), stateFolder: join(folder, "state/pressmark") });
const file = () => join(folder, "pressmark.config.yaml");
const outside = (option: string) => `${docs}  notes: { source: file, root: "\${env:NOTES}"${option} }\n`;

describe("a config that was found", () => {
  const found = { config: undefined };

  it("cannot be trusted with a mount that has problems", async () => {
    write(`${docs}  notes: { source: file, root: "\${env:NOTES}", rot: x }\n`);
    expect(await permissionsAsked(file(), trusting())).toEqual([]);
    await grantPermissions(file(), [], trusting());
    const server = await open(`${docs}  notes: { source: file, root: "\${env:NOTES}" }\n`, found);
    expect(names(server)).toEqual(["docs"]);
    expect(said).toContain("left out until it is trusted");
  });

  it("no longer serves a mount whose trust is revoked, also if no mount is left", async () => {
    const config = 'mounts: { notes: { source: file, root: "${env:NOTES}" }, gone: { source: file, root: nowhere } }\n';
    write(config);
    await grantPermissions(file(), await permissionsAsked(file(), trusting()), trusting());
    const server = await open(config, { ...found, live: true });
    expect(names(server)).toEqual(["notes"]);
    createTrustStore(join(folder, "state/pressmark")).forget(file());
    await untilSaid("effect");
    expect(names(server)).toEqual([]);
    expect(await server.resources.list({}, owner)).toEqual({
      items: [],
      failures: [{ mount: "gone", message: leftOut }],
    });
  });

  it("does not keep a trusted mount after a broken edit of it", async () => {
    write(outside(""));
    await grantPermissions(file(), await permissionsAsked(file(), trusting()), trusting());
    const server = await open(outside(""), { ...found, live: true });
    expect(names(server)).toEqual(["docs", "notes"]);
    write(outside(", rot: x"));
    await untilSaid("the config changed and is in effect");
    expect(names(server)).toEqual(["docs"]);
    expect(createTrustStore(join(folder, "state/pressmark")).read(file()).parts.size).toBe(1);
  });
});
