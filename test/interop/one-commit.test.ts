/** What official clients are told of commits and saves in a served repository: each change once, and the list only if it changed. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Serving } from "./command.ts";
import { overHttp as overHttpV1, visitV1 } from "./sdk-v1.ts";
import { overHttp, visitV2 } from "./sdk-v2.ts";

let root: string;
let repository: string;
let serving: Serving;

function git(...words: readonly string[]): void {
  const own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  execFileSync("git", [...own, "-C", repository, ...words], { stdio: "ignore" });
}

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-commit-")));
  repository = join(root, "press");
  await mkdir(join(repository, "src"), { recursive: true });
  git("init", "--quiet", "--initial-branch=main");
  await writeFile(join(repository, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
  serving = await serve({ path: repository, state: join(root, "state") });
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const clients = {
  v1: () => visitV1(overHttpV1(serving.url)),
  "v2, legacy": () => visitV2(overHttp(serving.url), "legacy"),
};

describe.for(Object.entries(clients))("SDK client %s", ([name, visit]) => {
  it("is told once of each change, and of the list only if it changed", async () => {
    await using visitor = await visit();
    const all: string[] = [];
    const { heard } = visitor;
    const hear = heard.hear.bind(heard);
    heard.hear = (what) => {
      all.push(what);
      hear(what);
    };
    const save = (path: string, text: string) => writeFile(join(repository, path), `${name}: ${text}\n`);
    const blame = "git://press/blame/HEAD/a.txt";
    for (const uri of [blame, "git://press/tree/HEAD", "git://press/tags"]) await visitor.watch(uri);

    // Folders that appear, branches, and files of commits are not in the list.
    await save("a.txt", "two");
    git("commit", "--quiet", "--all", "--message=second");
    await heard.next(`updated ${blame}`);
    git("branch", name.slice(0, 2));
    await mkdir(join(repository, `empty ${name}`));
    git("tag", `tag-${name.slice(0, 2)}`);
    await heard.next("updated git://press/tags");
    expect(all.filter((each) => each === `updated ${blame}`)).toHaveLength(1);
    expect(all.filter((each) => each === "updated git://press/tree/HEAD")).toHaveLength(1);
    expect(all).not.toContain("list-changed");

    await save(`new ${name}.txt`, "new");
    await heard.next("list-changed");
    git("add", ".");
    git("commit", "--quiet", "--message=third");
    await heard.next("updated git://press/tree/HEAD");
    await rm(join(repository, `new ${name}.txt`));
    await heard.next("list-changed");
    expect(all.filter((each) => each === "list-changed")).toHaveLength(2);
    expect(all.filter((each) => each === "updated git://press/tree/HEAD")).toHaveLength(2);
    expect((await visitor.pages()).flat()).toContain(pathToFileURL(join(repository, "a.txt")).href);
  });
});
