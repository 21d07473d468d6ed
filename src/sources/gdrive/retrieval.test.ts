/** A Drive behind a complete server: what is found by its words, by whom, and how soon. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { xlsx } from "../../backends/documents/test-documents.ts";
import type { Call, Resources } from "../../resources.ts";
import type { FakeDrive } from "../../testing/fakes/gdrive.ts";
import { collect } from "../../testing/pages.ts";
import { as, judged, openTestServer, type TestServer } from "./test-server.ts";

// A server with an index is slow to open: one serves all tests of a kind, each with its own files.
let pressmark: TestServer;
let fake: FakeDrive;
let resources: Resources;
let poll: () => void;

const openFor =
  (fill: (drive: FakeDrive) => void, options: Parameters<typeof openTestServer>[1] = {}) =>
  async () => {
    pressmark = await openTestServer(fill, { ...options, isIndexed: true });
    ({ fake, resources, poll } = pressmark);
  };

/** Resolves when a search gives the expected result; checked whenever the index has changed. */
async function until(search: () => Promise<boolean>): Promise<void> {
  const over = new AbortController();
  try {
    let moved = Promise.withResolvers<void>();
    pressmark.index!.follow(() => moved.resolve(), over.signal);
    while (!(await search())) {
      await moved.promise;
      moved = Promise.withResolvers();
    }
  } finally {
    over.abort();
  }
}

const found = async (text: string, call: Call) =>
  (await resources.search({ text, limit: 10 }, call)).hits.map(({ resource }) => resource.uri);

const row = (text: string) => `<row><c r="A1" t="inlineStr"><is><t>${text}</t></is></c></row>`;

const office = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

describe("retrieval", () => {
  beforeAll(
    openFor((drive) => {
      const filler = "Nothing to see here. ".repeat(60);
      const budget = "## Budget\n\nThe zebra costs twelve yen.";
      drive.document("plan", `# Plan\n\n${filler}\n\n${budget}\n\n## End\n\n${filler}\n`, { name: "Annual plan" });
      drive.document("other", "# Other\n\nwithout it\n", { name: "Other" });
      drive.folder("f", "F");
      drive.document("doc", "# One\n\nthe aardvark\n", { name: "Animals" });
      drive.put("s", {
        name: "Book",
        mimeType: "application/vnd.google-apps.spreadsheet",
        exports: { [office]: xlsx({ One: row("alpha"), Two: row("pangolin") }) },
      });
    }),
  );
  afterAll(() => pressmark.close());

  it("finds a document by its words, names the matching part, and opens it", async () => {
    const { hits } = await resources.search({ text: "zebra", limit: 10 }, as("anyone"));
    expect(hits.map(({ resource }) => resource)).toMatchObject([{ uri: "gdrive://file/plan", title: "Annual plan" }]);
    const [first, last] = hits[0]!.lines!;
    const { contents } = await resources.read(`gdrive://file/plan?lines=${first}-${last}`, as("anyone"));
    const [{ body } = { body: { text: "" } }] = contents;
    expect("text" in body && body.text).toMatch(/^## Budget\n\nThe zebra costs twelve yen\.\n/);
    expect("text" in body && body.text).not.toContain("# Plan");
  });

  it("finds an edited, renamed or moved document by its new words after one check, under the same address", async () => {
    expect(await found("aardvark", as("x"))).toEqual(["gdrive://file/doc"]);
    fake.document("doc", "# One\n\nthe wombat\n");
    const before = fake.asked.filter((line) => line.startsWith("GET /drive/v3/changes?")).length;
    poll();
    await until(async () => (await found("wombat", as("x"))).length > 0);
    expect(await found("aardvark", as("x"))).toEqual([]);
    expect(fake.asked.filter((line) => line.startsWith("GET /drive/v3/changes?")).length - before).toBe(1);

    fake.put("doc", { name: "Okapi", parent: "f" });
    poll();
    await until(async () => (await found("okapi", as("x"))).length > 0);
    expect(await found("okapi", as("x"))).toEqual(["gdrive://file/doc"]);
    expect(await found("animals", as("x"))).toEqual([]);
  });

  it("finds every sheet of a spreadsheet, with matching lines", async () => {
    expect(await found("pangolin", as("x"))).toEqual(["gdrive://file/s"]);
    const { contents } = await resources.read("gdrive://file/s", as("x"));
    expect(contents.map(({ uri }) => uri)).toEqual(["gdrive://file/s?sheet=One", "gdrive://file/s?sheet=Two"]);
    expect(await resources.read(contents[1]!.uri, as("x"))).toMatchObject({
      contents: [{ body: { text: "pangolin\n" } }],
    });
    fake.put("s", { exports: { [office]: xlsx({ One: row("alpha"), Two: row("echidna") }) } });
    poll();
    await until(async () => (await found("echidna", as("x"))).length > 0);
    expect(await found("pangolin", as("x"))).toEqual([]);
  });
});

function build(drive: FakeDrive): void {
  drive.addDrive("team", "Team", [drive.owner, "alice@example.org"]);
  const share = (id: string, permissions: Parameters<FakeDrive["put"]>[1]["permissions"]) =>
    drive.document(id, `the numbat in ${id}\n`, { name: `Numbat ${id}`, permissions: permissions ?? [] });
  share("for-alice", [{ type: "user", emailAddress: "Alice@example.org" }]);
  share("for-group", [{ type: "group", emailAddress: "staff@example.org" }]);
  share("for-domain", [{ type: "domain", domain: "example.org", allowFileDiscovery: true }]);
  share("by-link", [{ type: "anyone" }, { type: "domain", domain: "example.org" }]);
  share("for-all", [{ type: "anyone", allowFileDiscovery: true }]);
  share("expired", [{ type: "user", emailAddress: "alice@example.org", expirationTime: "2020-01-01T00:00:00Z" }]);
  share("outline", [{ type: "user", emailAddress: "alice@example.org", view: "metadata" }]);
  share("no-one", []);
  drive.document("in-team", "the numbat in team\n", { name: "Numbat in-team", driveId: "team" });
}

const seen = async (call: Call) => ({
  list: (await collect((cursor) => resources.list(cursor === undefined ? {} : { cursor }, call)))
    .map(({ uri }) => uri.replace("gdrive://file/", ""))
    .sort(),
  hits: (await found("numbat", call)).map((uri) => uri.replace("gdrive://file/", "")).sort(),
  children: (
    await collect((cursor) => resources.children("gdrive://file", cursor === undefined ? {} : { cursor }, call))
  )
    .map(({ uri }) => uri.replace("gdrive://file/", ""))
    .sort(),
  completed: (
    await resources.complete(
      { template: "gdrive://file/{id}{?format,sheet,lines,bytes,as}", variable: "id", value: "numbat", given: {} },
      call,
    )
  ).values.toSorted(),
});
const same = (ids: readonly string[]) => {
  const sorted = ids.toSorted();
  return { list: sorted, hits: sorted, children: sorted, completed: sorted };
};

describe("if Drive decides who sees what", () => {
  beforeAll(openFor(build, judged));
  afterAll(() => pressmark.close());
  const [alice, bob] = [as("alice@example.org"), as("bob@other.example")];

  it("each caller sees, finds and reads only what they may, through every operation", async () => {
    const all = [...fake.store.files.keys()];
    for (const [call, ids] of [
      [alice, ["for-alice", "for-domain", "for-all", "in-team"]],
      [as("local"), ["for-alice", "for-domain", "for-all", "in-team"]],
      [as("ALICE@EXAMPLE.ORG", ["staff@example.org"]), ["for-alice", "for-group", "for-domain", "for-all", "in-team"]],
      [bob, ["for-all"]],
      [as("nobody"), ["for-all"]],
      [as("constructor"), ["for-all"]],
    ] as const) {
      expect(await seen(call), call.caller.id).toEqual(same(ids));
      for (const id of all) {
        const [read, stat] = [resources.read(`gdrive://file/${id}`, call), resources.stat(`gdrive://file/${id}`, call)];
        if ((ids as readonly string[]).includes(id)) await Promise.all([read, stat]);
        else {
          await expect(read, `${call.caller.id} ${id}`).rejects.toMatchObject({ kind: "not-found" });
          await expect(stat, `${call.caller.id} ${id}`).rejects.toMatchObject({ kind: "not-found" });
        }
      }
      const uris = all.map((id) => `gdrive://file/${id}`);
      const watch = await resources.watch({ uris }, { ...call, signal: AbortSignal.timeout(60_000) });
      expect(watch.uris.toSorted()).toEqual(ids.map((id) => `gdrive://file/${id}`).toSorted());
      await watch[Symbol.asyncIterator]().return?.();
      const { contents } = await resources.read("gdrive://search?q=numbat", call);
      const [{ body } = { body: { text: "" } }] = contents;
      for (const id of all) expect("text" in body && body.text.includes(`"file/${id}"`)).toBe((ids as readonly string[]).includes(id)); // prettier-ignore
    }
  });

  it("a revoked file is no longer readable, even before the next check of Drive, and not found afterwards", async () => {
    await resources.read("gdrive://file/for-alice", alice);
    fake.put("for-alice", { permissions: [] });
    await expect(resources.read("gdrive://file/for-alice", alice)).rejects.toMatchObject({ kind: "not-found" });
    expect(await found("numbat", alice)).not.toContain("gdrive://file/for-alice");
    fake.store.setDrive("team", { name: "Team", members: [fake.owner] });
    await expect(resources.read("gdrive://file/in-team", alice)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("a shared file is visible after one check", async () => {
    fake.put("no-one", { permissions: [{ type: "user", emailAddress: "bob@other.example" }] });
    poll();
    await until(async () => (await found("numbat", bob)).length === 2);
    expect(await seen(bob)).toEqual(same(["for-all", "no-one"]));
  });
});
