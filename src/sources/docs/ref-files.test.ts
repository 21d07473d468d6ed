import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Entry, Source } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { asking, collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import { useCollection } from "./test-collection.ts";

const collection = useCollection();
const { at, call, git, open, write } = collection;
const english = "# Settings\n\nHow the server is set up.\n";
const japanese = "# 設定\n\nサーバーの設定方法を説明します。\n";

function list(source: Source): Promise<Entry[]> {
  return collect((cursor) => source.list(asking(1000, cursor), call()));
}

async function textAt(source: Source, path: string, query?: Readonly<Record<string, string>>): Promise<string> {
  const [part] = await source.read(query ? { path, query } : { path }, call());
  return part && "text" in part.body ? part.body.text : "";
}

/** The folder `docs` at the tag v1, with later commits. */
function build(): void {
  git(["init", "-q"]);
  write("README.md", english);
  write("docs/guide.md", english);
  write("docs/ja/guide.md", japanese);
  write("docs/deep/空 白#.md", japanese);
  write("docs/.hidden.md", english);
  write("docs/id_rsa", "secret");
  write("docs/page.html", "<h1>Page</h1>");
  fs.symlinkSync("guide.md", at("docs/link.md"));
  git(["add", "-A"]);
  git(["commit", "-q", "-m", "one"], "2020-01-01T00:00:00Z");
  git(["tag", "v1"]);
  write("docs/guide.md", "# Another\n");
  write("docs/new.md", english);
  git(["add", "-A"]);
  git(["commit", "-q", "-m", "two"], "2021-01-01T00:00:00Z");
}

describe("a collection at a ref", () => {
  it("is the folder at that commit, with its commit times", async () => {
    build();
    const source = await open({ root: at("docs"), ref: "v1" });
    const entries = await list(source);
    expect(entries.map(({ path }) => path)).toEqual([
      "en/guide.md",
      "en/page.html",
      "ja/deep/空 白#.md",
      "ja/guide.md",
    ]);
    for (const { path } of entries) expect(await textAt(source, path)).not.toBe("");
    expect(await textAt(source, "en/guide.md")).toBe(english);
    expect(await textAt(source, "en/guide.md", { heading: "settings" })).toBe(english);
    expect(await textAt(source, "en/guide.md", { lines: "1-1" })).toBe("# Settings\n");
    const guide = async () => (await list(source)).find(({ path }) => path === "en/guide.md");
    while ((await guide())?.annotations?.lastModified === undefined)
      await new Promise<void>((done) => setImmediate(done));
    expect(await guide()).toMatchObject({
      title: "Settings",
      annotations: { lastModified: "2020-01-01T00:00:00.000Z" },
      meta: { "pressmark/docs": { twins: { ja: "ja/guide.md" } } },
    });
    expect(await source.stat({ path: "en/guide.md" }, call())).toEqual(await guide());
    for (const path of ["en/new.md", "en/.hidden.md", "en/id_rsa", "en/link.md", "en/../README.md"])
      await refusal(source.read({ path }, call()), ["not-found"], path);
  });

  it("follows a branch that moves", async () => {
    build();
    git(["branch", "published", "v1"]);
    const source = await open({ root: at("docs"), ref: "published", git: false });
    const heard = collectChanges(await source.watch(call()));
    git(["branch", "-f", "published", "HEAD"]);
    await heard.until((change) => change.kind === "appeared" && change.path === "en/new.md", "new.md");
    await heard.until((change) => change.kind === "changed" && change.path === "en/guide.md", "guide.md");
    expect(await textAt(source, "en/guide.md")).toBe("# Another\n");
  });

  it("that does not exist is named in the error, and so is a folder without a repository", async () => {
    write("docs/a.md", english);
    await refusal(open({ root: at("docs"), ref: "v1" }), ["invalid"], "no repository");
    build();
    for (const ref of ["nowhere", "--upload-pack=touch x", "v1:docs", "../..", "v1\nv2"]) {
      const source = await open({ root: at("docs"), ref });
      const error = await refusal(source.list(asking(10), call()), ["unavailable"], ref);
      expect(error.message).toContain(JSON.stringify(ref));
    }
    expect(fs.existsSync(join(collection.root, "x"))).toBe(false);
  });

  it("names its own addresses in an error about a large file", async () => {
    build();
    const source = await open({ root: at("docs"), ref: "v1", maxBytes: 20 });
    const error = await refusal(source.read({ path: "en/guide.md" }, call()), ["too-large"], "guide.md");
    expect(error.message).toContain('"en/guide.md"');
    expect(error.details).toMatchObject({ template: "{lang}/{+path}{?lines,bytes,as}" });
  });
});
