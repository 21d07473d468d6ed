/** What people rely on when they edit files: one save is one announcement, and nothing is missed. */
import { appendFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textAt } from "./answers.ts";
import { legs, openTestServer, type Leg, type TestServer } from "./harness.ts";
import type { Line } from "./line/line.ts";

/** One of each kind is enough where it is the files that matter. */
const fileLegs: readonly Leg[] = legs.filter(
  ({ transport, revision }) =>
    (transport === "http" && revision === "2025-11-25") ||
    (transport === "sse" && revision === "2024-11-05") ||
    revision === "2026-07-28" ||
    (transport === "stdio" && revision === "2025-06-18"),
);

async function withFiles(
  leg: Leg,
): Promise<{ pressmark: TestServer; line: Line; uri: (name: string) => string; path: (name: string) => string }> {
  const pressmark = await openTestServer({ folder: true });
  const path = (name: string): string => join(pressmark.folder, name);
  await writeFile(path("draft.md"), "one\n");
  await writeFile(path("marker.md"), "marker\n");
  // Who is given a list while the watch takes long to arm is told to ask again: on a busy machine that would come first.
  await pressmark.resources.watch({ list: true }, { caller: { id: "owner" }, signal: new AbortController().signal });
  return { pressmark, line: await pressmark.line(leg), uri: (name) => pressmark.folderBase + name, path };
}

describe.concurrent.for(fileLegs)("a file over $transport in $revision", (leg) => {
  it("that is written once is announced once, and the list has not changed (S3-9, LEG-2, LEG-11, MOD-22)", async () => {
    const { pressmark, line, uri, path } = await withFiles(leg);
    await using _pressmark = pressmark;
    const ear = await line.hear({ uris: [uri("draft.md"), uri("marker.md")], list: true });
    await writeFile(path("draft.md"), "two\n");
    expect(await ear.next()).toEqual({ updated: uri("draft.md") });
    expect(await textAt(line, uri("draft.md"))).toBe("two\n");
    await writeFile(path("marker.md"), "later\n");
    expect(await ear.next()).toEqual({ updated: uri("marker.md") });
  });

  it("that is saved as editors save, by a rename over it, is announced once (S3-9, LEG-11)", async () => {
    const { pressmark, line, uri, path } = await withFiles(leg);
    await using _pressmark = pressmark;
    const ear = await line.hear({ uris: [uri("draft.md"), uri("marker.md")] });
    await writeFile(path("draft.md.tmp"), "two\n");
    await rename(path("draft.md.tmp"), path("draft.md"));
    expect(await ear.next()).toEqual({ updated: uri("draft.md") });
    expect(await textAt(line, uri("draft.md"))).toBe("two\n");
    await writeFile(path("marker.md"), "later\n");
    expect(await ear.next()).toEqual({ updated: uri("marker.md") });
  });

  it("that is written in a burst is announced a few times at most, and the last word is heard (S3-9, LEG-11)", async () => {
    const { pressmark, line, uri, path } = await withFiles(leg);
    await using _pressmark = pressmark;
    const ear = await line.hear({ uris: [uri("draft.md"), uri("marker.md")] });
    for (let step = 0; step < 100; step += 1) await appendFile(path("draft.md"), `${step}\n`);
    let announced = 0;
    let text = "";
    while (!text.endsWith("99\n")) {
      expect(await ear.next()).toEqual({ updated: uri("draft.md") });
      announced += 1;
      text = await textAt(line, uri("draft.md"));
    }
    await writeFile(path("marker.md"), "later\n");
    for (
      let heard = await ear.next();
      heard !== "list-changed" && heard.updated !== uri("marker.md");
      heard = await ear.next()
    )
      announced += 1;
    expect(announced).toBeGreaterThan(0);
    expect(announced).toBeLessThanOrEqual(10);
  });

  it("that comes or goes changes the list, and its subscription outlives it (S3-10, LEG-2, MOD-22)", async () => {
    const { pressmark, line, uri, path } = await withFiles(leg);
    await using _pressmark = pressmark;
    const list = await line.hear({ list: true });
    const ear = await line.hear({ uris: [uri("draft.md")] });
    await rm(path("draft.md"));
    expect(await ear.next()).toEqual({ updated: uri("draft.md") });
    expect(await list.next()).toBe("list-changed");
    await writeFile(path("draft.md"), "back\n");
    expect(await ear.next()).toEqual({ updated: uri("draft.md") });
    expect(await list.next()).toBe("list-changed");
    expect(await textAt(line, uri("draft.md"))).toBe("back\n");
    await writeFile(path("draft.md"), "and again\n");
    expect(await ear.next()).toEqual({ updated: uri("draft.md") });
  });

  it("in a folder made later is heard of too (S3-9, LEG-11)", async () => {
    const { pressmark, line, uri, path } = await withFiles(leg);
    await using _pressmark = pressmark;
    const list = await line.hear({ list: true });
    await mkdir(path("new/deep"), { recursive: true });
    await writeFile(path("new/deep/file.md"), "new\n");
    expect(await list.next()).toBe("list-changed");
    const ear = await line.hear({ uris: [uri("new/deep/file.md")] });
    expect(ear.uris).toEqual([uri("new/deep/file.md")]);
    await writeFile(path("new/deep/file.md"), "changed\n");
    expect(await ear.next()).toEqual({ updated: uri("new/deep/file.md") });
  });
});
