/** A caller who may see some files of a repository gets what a repository without the others would give. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type AccessRule, createRulesPolicy } from "../../access/rules.ts";
import { outcome } from "../../access/test-entry-points.ts";
import type { Call, Caller, Resources } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import { createRuntime } from "../../server/runtime.ts";
import {
  canary,
  hiddenHistory,
  hiddenHistoryText,
  hiddenPaths,
  importHistory,
  visiblePaths,
} from "./test-hidden-history.ts";
import { collectChanges } from "../../testing/listen.ts";
import { clear, testRepository, type TestRepository } from "./test-repository.ts";

afterEach(clear);

const aki: Caller = { id: "aki" };
const callOf = (caller: Caller): Call => ({ caller, signal: new AbortController().signal });
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const base = "git://history/";

/** Logs that show only some commits. */
const narrow = [
  "max=1&grep=plain",
  `max=1&grep=${canary}`,
  "max=1&pickaxe=kettle",
  `max=1&pickaxe=${canary}`,
  "max=1&path=docs/guide.md&follow=true",
];

/** Addresses of counts, texts and ranges. */
function summaries(paths: readonly string[], commits: readonly string[]): string[] {
  return [
    "churn",
    ...paths.flatMap((path) => [`churn?path=${path}`, `log?path=${path}&follow=true`]),
    ...["HEAD", ...commits].flatMap((ref) => [`commit/${ref}?as=text`, `commit/${ref}?as=summary`]),
    ...["side...main", "main...side", "HEAD~1..main", `${emptyTree}..HEAD`].flatMap((range) => [
      `diff/${range}`,
      `diff/${range}?as=text`,
      `diff/${range}?path=docs/guide.md`,
      `diff/${range}?path=${hiddenPaths[2]}`,
    ]),
    ...["grep=plain", "grep=not shown", `grep=${canary}`, "pickaxe=kettle", `pickaxe=${canary}`].map(
      (query) => `log?as=text&${query}`,
    ),
  ];
}

/** The same decisions, by rules that deny what is hidden, and by rules that allow what is visible. */
const ruleSets: Readonly<Record<string, (root: string) => AccessRule[]>> = {
  "deny folders and files": (root) => [
    { allow: ["anyone"] },
    { deny: ["caller:aki"], files: [`${root}/private-${canary.toUpperCase()}`, `${root}/**/*${canary}.md`] },
  ],
  "allow files": (root) => [
    {
      allow: ["anyone"],
      files: [...visiblePaths, "side", "docs/new.md", "fresh"].map((path) => `${root}/${path}`),
    },
  ],
  "allow and deny by wildcards": (root) => [
    { allow: ["caller:aki"], files: [`${root}/*.md`, `${root}/{docs,src,side,fresh}/**/*.{md,ts}`] },
    { deny: ["caller:aki"], files: [`${root}/**/*${canary}*`] },
  ],
};

async function serve(repository: TestRepository, rules: AccessRule[]): Promise<Resources> {
  return createResources({
    mounts: [{ name: "history", base, source: await repository.open() }],
    policy: createRulesPolicy(rules),
    runtime: createRuntime({ write: () => true }),
    cursorKey: new Uint8Array(32),
  });
}

/** All answers to a caller, by request, with numbers instead of the hashes of commits. */
async function everything(
  resources: Resources,
  commits: readonly string[],
  caller: Caller,
  { withSummaries }: { readonly withSummaries: boolean },
) {
  const call = callOf(caller);
  const answers: Record<string, string> = {};
  const numbered = (text: string) =>
    commits.reduce(
      (all, hash, index) => all.replaceAll(hash, `#${index}`).replaceAll(hash.slice(0, 12), `#${index}`),
      text,
    );
  const take = async (what: string, asked: string, promise: Promise<unknown>) => {
    const answer = JSON.stringify(await outcome(promise));
    answers[`${what} ${numbered(asked)}`] = numbered(answer.replaceAll(asked, "URI"));
  };
  const refs = ["HEAD", "main", "side", "HEAD~1", "HEAD~2", "side^", "main^2", "main~1^1", ...commits];
  const paths = [...visiblePaths, ...hiddenPaths, "side/readme.md", "docs", `private-${canary}`, "nothing"];
  const uris = [
    "status",
    "branches",
    "tags",
    "changes",
    "changes?base=main~1&as=patch",
    ...paths.flatMap((path) => [`log?path=${path}`, `diff/${emptyTree}/HEAD?path=${path}`]),
    ...refs.flatMap((ref) => [`commit/${ref}`, `tree/${ref}`, `diff/${emptyTree}/${ref}`, `diff/${ref}/HEAD`]),
    ...refs.map((ref) => `log?ref=${ref}`),
    ...paths.flatMap((path) => ["HEAD", ...commits].flatMap((ref) => [`blob/${ref}/${path}`, `tree/${ref}/${path}`])),
    ...paths.flatMap((path) => [`blame/HEAD/${path}`, `blob/HEAD/${path}?lines=1-2`]),
    ...(withSummaries ? summaries(paths, commits) : []),
  ];
  await Promise.all(
    uris
      .map((each) => encodeURI(base + each))
      .flatMap((uri) => [take("read", uri, resources.read(uri, call)), take("stat", uri, resources.stat(uri, call))]),
  );
  for (const query of [
    "max=1",
    "max=2",
    "max=1&author=Ada",
    "max=2&until=2100-01-01",
    "max=1&path=docs",
    ...(withSummaries ? narrow : []),
  ])
    for (let next: string | undefined = query, page = 0; next !== undefined; page += 1) {
      const result = await outcome(resources.read(`${base}log?${next}`, call));
      const { contents } = result as { contents?: { body: { text: string } }[] };
      const { next: after, ...facts } = JSON.parse(contents?.[0]?.body.text ?? "{}") as { next?: string };
      answers[`${query} page ${page}`] = numbered(JSON.stringify([contents ? facts : result, after === undefined]));
      expect(after ?? "", "positions are encrypted").not.toMatch(/[0-9a-f]{40}/);
      next = after;
    }
  await take("children", `${base}tree`, resources.children(`${base}tree`, {}, call));
  for (const { uriTemplate: template } of (await resources.templates({}, call)).items)
    for (const variable of ["sha", "ref", "base", "path"])
      for (const value of ["", "s", "docs/"]) {
        const request = { template, variable, value, given: { ref: "HEAD" } };
        await take(`complete ${variable} ${value}`, template, resources.complete(request, call));
      }
  return answers;
}

function writeFiles(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), hiddenHistoryText(path, 3));
  }
}

describe("a history of which a caller may see a part", () => {
  it.each(Object.keys(ruleSets))("is as if the rest had never been: %s", { timeout: 120_000 }, async (kind) => {
    await fc.assert(
      fc.asyncProperty(hiddenHistory, async (history) => {
        const [whole, part] = [testRepository(), testRepository()];
        const commits = importHistory(whole, history, { withHidden: true });
        const own = importHistory(part, history, { withHidden: false });
        expect(own).toHaveLength(commits.length);
        const changed = ["docs/new.md", "fresh/n.md", "readme.md"];
        writeFiles(part.folder, changed);
        writeFiles(whole.folder, [...changed, `docs/new-${canary}.md`, ...hiddenPaths]);
        const rules = ruleSets[kind]!;
        const which = { withSummaries: rules === ruleSets["deny folders and files"] };
        const seen = await everything(await serve(whole, rules(whole.folder)), commits, aki, which);
        const unseen = whole
          .git("rev-list", "--all")
          .split("\n")
          .filter((hash) => hash !== "" && !commits.includes(hash));
        for (const [request, answer] of Object.entries(seen))
          for (const secret of [canary, ...unseen]) expect(answer, request).not.toContain(secret);
        expect(seen).toEqual(await everything(await serve(part, rules(part.folder)), own, aki, which));
      }),
      { numRuns: 2, endOnFailure: true },
    );
  });

  it("has no links to hidden files, no tags on hidden commits that speak, and no branches without visible commits", async () => {
    const repository = testRepository();
    const { folder } = repository;
    repository.commit("first", { "readme.md": "a" });
    repository.commit(`about ${canary}`, { [`private-${canary}/a.md`]: "a" });
    repository.git("tag", "--annotate", "v1", "--message", `with ${canary}`);
    symlinkSync(`private-${canary}/a.md`, join(folder, "relative"));
    symlinkSync(join(folder, `private-${canary}/a.md`), join(folder, "absolute"));
    symlinkSync("readme.md", join(folder, "link"));
    repository.commit("links");
    repository.git("checkout", "--quiet", "--orphan", "lost");
    repository.git("rm", "--quiet", "-r", "--force", "readme.md", "relative", "absolute", "link");
    repository.commit(`lost ${canary}`, { [`private-${canary}/b.md`]: "b" });
    repository.git("checkout", "--quiet", "main");
    repository.git("branch", "--quiet", "before", "main~1");
    repository.git("branch", "--quiet", "--set-upstream-to=before", "main");
    const resources = await serve(repository, ruleSets["deny folders and files"]!(folder));
    const facts = async (path: string) =>
      JSON.parse(await textAt(resources, path, callOf(aki))) as Record<string, unknown>;
    const commit = await facts("commit/main");
    expect([commit["message"], commit["files"], commit["leftOut"]]).toEqual([
      "links",
      [{ path: "link", change: "added" }],
      undefined,
    ]);
    expect(await facts("tags")).toMatchObject({ tags: [{ name: "v1", subject: "[message not shown]" }] });
    expect(await facts("branches")).toMatchObject({
      branches: [{ name: "main" }, { name: "before", subject: "first" }],
    });
    expect(await facts("status")).toMatchObject({ upstream: { name: "before", ahead: 1, behind: 0 }, clean: true });
    expect((await facts("log"))["commits"]).toMatchObject([{ subject: "links" }, { subject: "first", parents: [] }]);
    for (const path of ["blob/main/relative", "blob/main/absolute", "commit/lost", "log?ref=lost"])
      await expect(textAt(resources, path, callOf(aki)), path).rejects.toMatchObject({ kind: "not-found" });
    const hash = repository.git("rev-parse", "main");
    const plain = `log?after=${hash}.0.9007199254740991.l.${hash}`;
    await expect(textAt(resources, plain, callOf(aki)), "a forged position").rejects.toMatchObject({ kind: "invalid" });
  });

  it("announces nothing that happens only to hidden files", async () => {
    const repository = testRepository();
    repository.commit("first", { "readme.md": "a", [`docs/${canary}.md`]: "a" });
    const resources = await serve(repository, ruleSets["deny folders and files"]!(repository.folder));
    const uris = ["log", "status", "branches", "commit/main", "tree/main", "tree/main/docs"].map((each) => base + each);
    repository.commit("visible folder", { "docs/guide.md": "a" });
    const stop = new AbortController();
    const changes = collectChanges(await resources.watch({ uris, list: true }, { caller: aki, signal: stop.signal }));
    const all = collectChanges(
      await resources.watch({ uris }, { caller: { id: "me", owner: true }, signal: stop.signal }),
    );
    repository.commit(`only ${canary}`, { [`docs/${canary}.md`]: "b", [`private-${canary}/a.md`]: "a" });
    await all.until((change) => change.kind === "updated" && change.uri === `${base}log`, "the log");
    repository.commit("visible", { "readme.md": "b" });
    await changes.until((change) => change.kind === "updated" && change.uri === `${base}log`, "the log");
    const seen = JSON.parse(await textAt(resources, "log", callOf(aki))) as { commits: { subject: string }[] };
    expect(seen.commits.map(({ subject }) => subject)).toEqual(["visible", "visible folder", "[message not shown]"]);
    const heard = changes.heard.map((change) =>
      change.kind === "updated" ? change.uri.slice(base.length) : change.kind,
    );
    expect(heard).not.toContain("tree/main/docs");
    expect(heard.filter((path) => path === "log")).toHaveLength(1);
    stop.abort();
  });
});

async function textAt(resources: Resources, path: string, call: Call): Promise<string> {
  const [content] = (await resources.read(base + path, call)).contents;
  return content && "text" in content.body ? content.body.text : "";
}
