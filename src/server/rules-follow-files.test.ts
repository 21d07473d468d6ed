/** Whatever rules about files hide, no mount over the folder shows it: neither names nor contents. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { gather } from "../context/gather.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import { openServer } from "./open-server.ts";

/** Each name and each text contains a word of its own. */
const paths = [
  "readme-zebra.md",
  "docs/guide-yak.md",
  "docs/内部-walrus.md",
  "docs/deep/plan-viper.md",
  "private-urial/key-tapir.md",
  "private-urial/more/list-serval.md",
  "skills/refund-rhea/SKILL.md",
];
const words = ["zebra", "yak", "walrus", "viper", "tapir", "serval", "rhea"];
const secretText = (index: number) => `body${words[index]}`;

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
      git("add", "-A");
      git("commit", "-qm", "first");
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
        }
        for (const path of seen) expect(shown).toContain(secretText(paths.indexOf(path)));
        const all = await everythingFor(resources, owner, folder);
        for (const [index] of paths.entries()) expect(all).toContain(secretText(index));
      } finally {
        await server.close();
        rmSync(root, { recursive: true, force: true });
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

function textOf(path: string, index: number): string {
  const body = `# Title\n\n${secretText(index)} kettle\n`;
  return path.endsWith("SKILL.md")
    ? `---\nname: refund-rhea\ndescription: About ${secretText(index)}\n---\n${body}`
    : body;
}

function callOf(caller: Caller): Call {
  return { caller, signal: new AbortController().signal };
}

/** All that a caller gets from every operation, as one text. URIs that the test asks for are left out of errors. */
async function everythingFor(resources: Resources, call: Call, folder: string): Promise<string> {
  const shown: unknown[] = [];
  const uris = new Set<string>();
  const take = async (work: Promise<unknown>) => {
    const result = await work.catch(() => undefined);
    shown.push(result);
    return result;
  };
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await resources.list({ cursor, limit: 3 }, call);
    for (const { uri } of page.items) uris.add(uri);
    shown.push(page.items);
    cursor = page.next;
  }
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: folder, encoding: "utf8" }).trim();
  for (const path of paths) {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    uris.add(`file://${folder}/${encoded}`);
    for (const kind of ["blob", "blame", "tree"]) uris.add(`git://history/${kind}/HEAD/${encoded}`);
    uris.add(`git://history/log?path=${encodeURIComponent(path)}`);
    uris.add(`docs://documents/en/${encoded}`);
    uris.add(`docs://documents/ja/${encoded}`);
    uris.add(`skill://${encoded.replace(/^skills\//, "")}`);
  }
  const empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  for (const more of ["log", "status", "branches", `commit/${commit}`, `diff/${empty}/HEAD`, `diff/${empty}/${commit}`])
    uris.add(`git://history/${more}`);
  for (const uri of uris) {
    await take(resources.read(uri, call));
    await take(resources.stat(uri, call));
  }
  for (const start of [`file://${folder}`, "git://history/tree/HEAD", "docs://documents", "skill://"])
    await walk(start);
  for (const word of ["kettle", "guide", ...words.map((_, index) => secretText(index))]) {
    await take(resources.search({ text: word, limit: 50 }, call));
    shown.push((await gather(resources, { task: word, budget: 4000 }, call).catch(() => undefined))?.items);
  }
  for (const template of (await resources.templates({}, call)).items)
    for (const variable of ["path", "ref", "skill", "heading", "sha"])
      for (const value of ["", "p", "private", "docs/"])
        await take(
          resources.complete(
            { template: template.uriTemplate, variable, value, given: { ref: "HEAD", lang: "en" } },
            call,
          ),
        );
  await take(resources.skills?.({}, call) ?? Promise.resolve());
  return JSON.stringify(shown);

  async function walk(uri: string): Promise<void> {
    const page = await resources.children(uri, {}, call).catch(() => undefined);
    shown.push(page?.items);
    for (const { uri: child, mimeType } of page?.items ?? []) if (mimeType === "inode/directory") await walk(child);
  }
}
