/** Whatever rules about files hide, no mount over the folder shows it: neither names nor contents. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { outcome } from "../access/test-entry-points.ts";
import { gather } from "../context/gather.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import { openServer } from "./open-server.ts";

/** Each name and each text contains a word of its own. */
const paths = [
  "readme-zebra.md",
  "docs/guide.md",
  "docs/guide.ja.md",
  "docs/内部-walrus.md",
  "docs/deep/plan-viper.md",
  "private-urial/key-tapir.md",
  "private-urial/more/list-serval.md",
  "skills/refund-rhea/SKILL.md",
];
const words = ["zebra", "yak", "ibex", "walrus", "viper", "tapir", "serval", "rhea"];
const secretText = (index: number) => `body${words[index]}`;
/** In the message of a commit that changes this file alone. */
const noteOf = (index: number) => `note${words[index]}`;
/** A visible file, and where it was before it was renamed. */
const moved = "moved.md";
const earlier = "private-urial/was-xerus.md";
const mixedNote = "notequokka";

const plan = fc.record({
  /** Indexes of paths that are hidden, by file or by folder. */
  hidden: fc.uniqueArray(fc.nat(paths.length - 1), { minLength: 1, maxLength: 4 }),
  byFolder: fc.boolean(),
  upperCase: fc.boolean(),
});

it("no mount over a folder shows what a rule about its files hides", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ hidden, byFolder, upperCase }) => {
      const patterns = hidden.map((index) => {
        const path = paths[index]!;
        const pattern = byFolder && path.includes("/") ? dirname(path) : path;
        return upperCase ? pattern.toUpperCase() : pattern;
      });
      const isHidden = (path: string) =>
        patterns.some((each) => `${path.toLowerCase()}/`.startsWith(`${each.toLowerCase()}/`));
      const [gone, seen] = [paths.filter(isHidden), paths.filter((path) => !isHidden(path))];
      const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-follow-")));
      const folder = join(root, "team");
      for (const [index, path] of paths.entries()) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), textOf(path, index));
      }
      const git = (...line: string[]) =>
        execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...line], { cwd: folder });
      git("init", "-q");
      for (const [index, path] of paths.entries()) {
        git("add", path);
        git("commit", "-qm", `About ${noteOf(index)}`);
      }
      mkdirSync(dirname(join(folder, earlier)), { recursive: true });
      writeFileSync(join(folder, earlier), "a kettle\n".repeat(20));
      git("add", earlier);
      git("commit", "-qm", "About notexerus");
      git("mv", earlier, moved);
      for (const path of paths) appendFileSync(join(folder, path), "\nkettle again\n");
      git("commit", "-qam", mixedNote);
      for (const path of paths) appendFileSync(join(folder, path), "\nnot committed\n");
      writeFileSync(
        join(root, "pressmark.yaml"),
        `mounts:
  files: { source: file, root: team }
  history: { source: git, root: team }
  documents: { source: docs, root: team }
  skills: { source: skills, root: team/skills }
callers: { aki: {} }
rules:
  - { allow: [anyone] }
  - { deny: ["caller:aki"], files: ${JSON.stringify(patterns.map((each) => `team/${each}`))} }
`,
      );
      const server = await openServer({
        folders: [],
        config: join(root, "pressmark.yaml"),
        from: folder,
        env: { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") },
        err: { write: () => true },
      });
      try {
        const { resources } = server;
        const owner = callOf({ id: "me", owner: true });
        await vi.waitFor(
          async () => expect((await resources.search({ text: "bodyzebra", limit: 5 }, owner)).ready).toBe(1),
          {
            timeout: 30_000,
            interval: 50,
          },
        );
        const shown = await everythingFor(resources, callOf({ id: "aki" }), folder);
        for (const path of gone) {
          const index = paths.indexOf(path);
          expect(shown, `${path} is hidden by ${patterns.join(", ")}`).not.toContain(secretText(index));
          // A name is hidden with its file or folder; the folders above a hidden file are not.
          const word = words[index]!;
          const isNamed = [path, ...patterns].some((each) => basename(each).toLowerCase().includes(word));
          if (isNamed) expect(shown).not.toContain(word);
          expect(shown).not.toContain(noteOf(index));
        }
        if (isHidden(earlier)) expect(shown).not.toContain("xerus");
        // A visible document does not name a hidden translation.
        if (isHidden(paths[2]!)) expect(shown).not.toContain("ja/docs/guide.md");
        // The message of a commit that also changes hidden files may speak of them.
        expect(shown.includes(mixedNote)).toBe(gone.length === 0);
        for (const path of seen) {
          expect(shown).toContain(secretText(paths.indexOf(path)));
          expect(shown).toContain(noteOf(paths.indexOf(path)));
        }
        const all = await everythingFor(resources, owner, folder);
        for (const [index] of paths.entries()) {
          expect(all).toContain(secretText(index));
          expect(all).toContain(noteOf(index));
        }
        for (const word of ["xerus", mixedNote, "ja/docs/guide.md"]) expect(all).toContain(word);
      } finally {
        await server.close();
        rmSync(root, { recursive: true, force: true });
      }
    }),
    { numRuns: 3, endOnFailure: true },
  );
});

function textOf(path: string, index: number): string {
  const language = path.includes(".ja.") ? "これは日本語の文書です。\n" : "";
  const body = `# Title\n\n${language}${secretText(index)} kettle\n`;
  return path.endsWith("SKILL.md")
    ? `---\nname: refund-rhea\ndescription: About ${secretText(index)}\n---\n${body}`
    : body;
}

function callOf(caller: Caller): Call {
  return { caller, signal: new AbortController().signal };
}

/** All that a caller gets from every operation, errors included, as one text without what the test asked for. */
async function everythingFor(resources: Resources, call: Call, folder: string): Promise<string> {
  const shown: unknown[] = [];
  const uris = new Set<string>();
  const take = async (asked: string, work: Promise<unknown>) => {
    const result = JSON.stringify(await outcome(work)) ?? "";
    shown.push(asked === "" ? result : result.replaceAll(asked, ""));
  };
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await resources.list({ cursor, limit: 3 }, call);
    for (const { uri } of page.items) uris.add(uri);
    shown.push(JSON.stringify(page.items));
    cursor = page.next;
  }
  const commits = execFileSync("git", ["rev-list", "HEAD"], { cwd: folder, encoding: "utf8" }).trim().split("\n");
  for (const path of [...paths, moved, earlier, "nothing.md"]) {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    uris.add(`file://${folder}/${encoded}`);
    for (const kind of ["blob", "blame", "tree"])
      for (const ref of ["HEAD", "HEAD~1"]) uris.add(`git://history/${kind}/${ref}/${encoded}`);
    uris.add(`git://history/blob/HEAD/${encoded}?lines=1-2`);
    uris.add(`git://history/log?path=${encodeURIComponent(path)}`);
    uris.add(`docs://documents/en/${encoded}`);
    uris.add(`docs://documents/ja/${encoded}`);
    uris.add(`skill://${encoded.replace(/^skills\//, "")}`);
  }
  const empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  for (const more of ["log", "log?max=2", "status", "branches", "tags", `diff/${empty}/HEAD`, "diff/HEAD~3/HEAD"])
    uris.add(`git://history/${more}`);
  for (const more of [
    "churn",
    "log?grep=about&as=text",
    "log?pickaxe=kettle",
    "commit/HEAD?as=text",
    "diff/HEAD~3...HEAD",
  ])
    uris.add(`git://history/${more}`);
  for (const commit of commits)
    for (const more of ["commit/", `diff/${empty}/`, "tree/", "log?ref="]) uris.add(`git://history/${more}${commit}`);
  for (const uri of uris) {
    await take(uri, resources.read(uri, call));
    await take(uri, resources.stat(uri, call));
  }
  for (const start of [`file://${folder}`, "git://history/tree/HEAD", "docs://documents", "skill://"])
    await walk(start);
  const texts = words.flatMap((word, index) => [word, secretText(index), noteOf(index)]);
  for (const text of ["kettle", "guide", "xerus", mixedNote, ...texts]) {
    await take("", resources.search({ text, limit: 50 }, call));
    const pack = await gather(resources, { task: text, budget: 4000 }, call).catch(() => undefined);
    shown.push(JSON.stringify([pack?.items, pack?.text, pack?.receipt.included, pack?.receipt.leftOut]));
  }
  for (const template of (await resources.templates({}, call)).items)
    for (const variable of ["path", "ref", "skill", "heading", "sha"])
      for (const value of ["", "p", "private", "docs/"])
        await take(
          template.uriTemplate,
          resources.complete(
            { template: template.uriTemplate, variable, value, given: { ref: "HEAD", lang: "en" } },
            call,
          ),
        );
  await take("", resources.skills?.({}, call) ?? Promise.resolve());
  return shown.join("\n");

  async function walk(uri: string): Promise<void> {
    const page = await resources.children(uri, {}, call).catch(() => undefined);
    shown.push(JSON.stringify(page?.items));
    for (const { uri: child, mimeType } of page?.items ?? []) if (mimeType === "inode/directory") await walk(child);
  }
}
