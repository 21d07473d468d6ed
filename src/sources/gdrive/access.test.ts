/** Access decided by Drive, in the cases that are easily forgotten. */
import { afterEach, expect, it } from "vitest";
import type { Change } from "../../resources.ts";
import { as, judged, openTestServer, type TestServer } from "./test-server.ts";

let pressmark: TestServer;
afterEach(() => pressmark.close());

const [alice, bob] = [as("alice@example.org"), as("bob@example.org")];
const forAlice = { permissions: [{ type: "user", emailAddress: "alice@example.org" }] } as const;
const forBoth = { permissions: [...forAlice.permissions, { type: "user", emailAddress: "bob@example.org" }] } as const;
const fileTemplate = "gdrive://file/{id}{?format,sheet,lines,bytes,as}";

const next = async (heard: AsyncIterator<Change> | undefined) => (await heard?.next())?.value as Change;

const look = (call = alice) => pressmark.resources.list({}, call);

it("a folder changes only for those who may see what was added, removed or renamed in it", async () => {
  pressmark = await openTestServer((fake) => {
    fake.put("f", { name: "F", mimeType: "application/vnd.google-apps.folder", ...forBoth });
    fake.put("g", { name: "G", mimeType: "application/vnd.google-apps.folder", ...forBoth });
    fake.document("secret", "1", { ...forAlice, parent: "f" });
  }, judged);
  const { fake, resources, poll } = pressmark;
  await look();
  const over = new AbortController();
  const [hers, his] = await Promise.all(
    [alice, bob].map(async (call) =>
      (
        await resources.watch(
          { uris: ["gdrive://folder/f", "gdrive://folder/g"], list: true },
          { ...call, signal: over.signal },
        )
      )[Symbol.asyncIterator](),
    ),
  );
  const hears = async (heard: AsyncIterator<Change> | undefined, ...uris: readonly string[]) => {
    const missing = new Set(uris);
    while (missing.size > 0) {
      const change = await next(heard);
      if (change.kind === "updated") missing.delete(change.uri);
    }
  };
  fake.document("another", "1", { ...forAlice, parent: "f" });
  poll();
  await hears(hers, "gdrive://folder/f");
  fake.put("secret", { name: "renamed" });
  poll();
  await hears(hers, "gdrive://folder/f");
  fake.put("secret", { parent: "g" });
  poll();
  await hears(hers, "gdrive://folder/f", "gdrive://folder/g");
  fake.trash("secret");
  poll();
  await hears(hers, "gdrive://folder/g");
  // All changes concerned hidden files: the first change that he sees is a visible one.
  fake.document("shared", "1", { ...forBoth, parent: "g" });
  poll();
  const heard = [await next(his), await next(his)];
  expect(heard).toEqual(
    expect.arrayContaining([{ kind: "updated", uri: "gdrive://folder/g" }, { kind: "list-changed" }]),
  );
  over.abort();
});

it("hidden files do not displace visible ones in the completion of titles", async () => {
  pressmark = await openTestServer((fake) => {
    for (let count = 0; count < 300; count += 1) fake.put(`hidden-${count}`, { name: "Report", content: "x" });
    fake.put("theirs", { name: "Report of all", content: "x", ...forBoth });
  }, judged);
  const request = { template: fileTemplate, variable: "id", value: "report", given: {} };
  expect(await pressmark.resources.complete(request, bob)).toMatchObject({ values: ["theirs"] });
});

it("permissions are refreshed even if nothing lists and nothing watches", async () => {
  pressmark = await openTestServer((fake) => fake.put("doc", { name: "Doc", content: "x", ...forBoth }), judged);
  const { fake, resources, poll } = pressmark;
  await look(bob);
  await resources.stat("gdrive://file/doc", alice);
  fake.put("doc", { permissions: forAlice.permissions });
  poll();
  const looked = Promise.withResolvers<void>();
  fake.onAsk = (line) => line.startsWith("GET /drive/v3/changes?") && looked.resolve();
  // A missing file, so that no request is made for its own sake.
  await expect(resources.read("gdrive://file/none", bob)).rejects.toMatchObject({ kind: "not-found" });
  await looked.promise;
});

it("an unserved file looks like a missing one in the completion of formats", async () => {
  pressmark = await openTestServer(
    (fake) => {
      fake.folder("in", "In");
      fake.document("served", "1", { parent: "in" });
      fake.document("beside", "1");
    },
    { folders: ["in"] },
  );
  await look();
  const formats = async (id: string) =>
    (
      await pressmark.resources.complete(
        { template: fileTemplate, variable: "format", value: "", given: { id } },
        alice,
      )
    ).values;
  expect(await formats("served")).toContain("epub");
  expect(await formats("served")).not.toContain("png");
  expect(await formats("beside")).toEqual(await formats("none"));
});
