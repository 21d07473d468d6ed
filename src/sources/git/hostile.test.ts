import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pathOf, type Source } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import {
  call,
  clear,
  readFacts,
  readText,
  scratchFolder,
  type TestRepository,
  testRepository,
} from "./test-repository.ts";

const realPath = process.env["PATH"];
const realEnv = { ...process.env };
let traps: string;

beforeEach(() => {
  traps = scratchFolder();
});

afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in realEnv)) delete process.env[name];
  Object.assign(process.env, realEnv);
  process.env["PATH"] = realPath;
  await clear();
});

/** A program that leaves a file behind when it is run. */
function trap(name: string): string {
  const program = join(traps, `${name}.sh`);
  writeFileSync(program, `#!/bin/sh\necho run >> '${join(traps, `${name}.sprung`)}'\ncat 2>/dev/null\n`);
  chmodSync(program, 0o755);
  return program;
}

function sprung(): string[] {
  return readdirSync(traps).filter((name) => name.endsWith(".sprung"));
}

/** Makes every possible request; errors are ignored. */
async function askAll(source: Source): Promise<void> {
  const ask = (path: string, query?: Record<string, string>) =>
    source.read(query ? { path, query } : { path }, call).catch(() => undefined);
  for (const path of ["status", "branches", "tags", "log", "commit/HEAD", "commit/HEAD~1", "diff/HEAD~1/HEAD"])
    await ask(path);
  for (const path of ["tree/HEAD", "blob/HEAD/a.txt", "blob/HEAD/b.txt", "blame/HEAD/a.txt", "blame/HEAD/b.txt"])
    await ask(path);
  await ask("log", { path: "a.txt" });
  await ask("log", { author: "ada", since: "2020-01-01" });
  await ask("diff/HEAD~1/HEAD", { path: "a.txt" });
  await source.children!({ path: "tree" }, { limit: 10 }, call).catch(() => undefined);
  await source.children!({ path: "tree/HEAD" }, { limit: 10 }, call).catch(() => undefined);
  for (const template of source.templates!)
    for (const variable of ["ref", "sha", "path"])
      await source.complete!({ template, variable, value: "", given: {} }, call).catch(() => undefined);
  const stop = new AbortController();
  await source.watch!({ ...call, signal: stop.signal });
  stop.abort();
}

function hostile(): TestRepository {
  const repository = testRepository();
  repository.commit("first", {
    "a.txt": "one\n",
    "b.txt": "two\n",
    ".gitattributes": "* filter=evil diff=evil merge=evil\n",
  });
  repository.commit("second", { "a.txt": "one changed\n" });
  const signed = repository
    .gitBytes(["cat-file", "commit", "HEAD"])
    .toString()
    .replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n");
  const hash = repository.gitBytes(["hash-object", "-t", "commit", "-w", "--stdin"], signed).toString().trim();
  repository.git("update-ref", "refs/heads/main", hash);
  // A checkout within the checkout, with its own traps.
  const inner = testRepository([], join(repository.folder, "inner"));
  const commit = inner.commit("inner", { "x.txt": "x", ".gitattributes": "* filter=evil\n" });
  inner.git("config", "core.fsmonitor", trap("inner-fsmonitor"));
  inner.git("config", "filter.evil.clean", trap("inner-clean"));
  inner.write("x.txt", "touched");
  repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},inner`);
  repository.write(".gitmodules", '[submodule "inner"]\n\tpath = inner\n\turl = ext::sh\n\tignore = none\n');
  for (const hook of [
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "fsmonitor-watchman",
    "query-watchman",
  ]) {
    writeFileSync(join(repository.folder, ".git/hooks", hook), `#!/bin/sh\n'${trap(`hook-${hook}`)}'\n`);
    chmodSync(join(repository.folder, ".git/hooks", hook), 0o755);
  }
  const settings: Record<string, string> = {
    "core.fsmonitor": trap("fsmonitor"),
    "core.pager": trap("pager"),
    "core.editor": trap("editor"),
    "core.sshCommand": trap("ssh"),
    "core.askPass": trap("askpass"),
    "core.alternateRefsCommand": trap("alternate-refs"),
    "core.gitProxy": trap("proxy"),
    "pager.log": trap("pager-log"),
    "pager.status": trap("pager-status"),
    "filter.evil.clean": trap("clean"),
    "filter.evil.smudge": trap("smudge"),
    "filter.evil.process": trap("process"),
    "filter.evil.required": "true",
    "diff.external": trap("external"),
    "diff.evil.command": trap("diff-command"),
    "diff.evil.textconv": trap("textconv"),
    "diff.trustExitCode": "true",
    "merge.evil.driver": `${trap("merge")} %A`,
    "gpg.program": trap("gpg"),
    "log.showSignature": "true",
    "alias.status": `!${trap("alias-status")}`,
    "alias.log": `!${trap("alias-log")}`,
    "alias.cat-file": `!${trap("alias-cat-file")}`,
    "credential.helper": `!${trap("credential")}`,
    "sequence.editor": trap("sequence"),
    "uploadpack.packObjectsHook": trap("pack-objects"),
    "remote.origin.url": `ext::${trap("ext")} %S`,
    "remote.origin.promisor": "true",
    "extensions.partialClone": "origin",
    "core.repositoryFormatVersion": "1",
    "protocol.ext.allow": "always",
    "safe.directory": "*",
    "core.worktree": "/",
    "interactive.diffFilter": trap("diff-filter"),
    "submodule.x.update": `!${trap("submodule")}`,
    "include.path": join(traps, "included"),
    "includeIf.gitdir:/.path": join(traps, "included"),
    "blame.ignoreRevsFile": "/etc/passwd",
    "core.attributesFile": join(traps, "attributes"),
  };
  writeFileSync(join(traps, "included"), `[core]\n\tfsmonitor = ${trap("included")}\n`);
  writeFileSync(join(traps, "attributes"), "* filter=evil\n");
  const lines = Object.entries(settings).map(([key, value]) => {
    const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
    const sub = first === last ? "" : ` "${key.slice(first + 1, last)}"`;
    return `[${key.slice(0, first)}${sub}]\n\t${key.slice(last + 1)} = ${JSON.stringify(value)}\n`;
  });
  writeFileSync(join(repository.folder, ".git/config"), lines.join(""));
  // Touched, so that git has to read them.
  repository.write("a.txt", "touched\n");
  repository.write("b.txt", "two\n");
  return repository;
}

describe("a hostile repository", () => {
  it("runs no program, whatever its settings, hooks and attributes", async () => {
    const repository = hostile();
    const source = await repository.open();
    await askAll(source);
    expect(sprung()).toEqual([]);
    expect(await readFacts(source, "status")).toMatchObject({ branch: "main", unstaged: [{ path: "a.txt" }] });
    expect(await readFacts(source, "log")).toMatchObject({ commits: { length: 2 } });
    expect(await readText(source, "blob/HEAD/a.txt")).toBe("one changed\n");
    expect(await readText(source, "diff/HEAD~1/HEAD")).toContain("+one changed");
    expect(await readFacts(source, "blame/HEAD/a.txt")).toMatchObject({ ranges: [{ lines: [1, 1] }] });
    expect(sprung()).toEqual([]);
    // The traps work: git by itself runs them.
    const env = { PATH: realPath, HOME: traps, GIT_CONFIG_NOSYSTEM: "1" };
    for (const args of [
      ["--work-tree=.", "status"],
      ["--work-tree=.", "diff", "HEAD~1"],
      ["log", "-1", "--show-signature"],
    ])
      try {
        execFileSync("git", args, { cwd: repository.folder, env, stdio: "ignore", timeout: 10_000 });
      } catch {
        // It may fail because of the trap.
      }
    expect(sprung()).toEqual(expect.arrayContaining(["included.sprung", "gpg.sprung"]));
  });

  it("is read without git settings from the caller's environment", async () => {
    const repository = hostile();
    const other = testRepository();
    other.commit("another", { "secret.txt": "secret" });
    Object.assign(process.env, {
      GIT_DIR: join(other.folder, ".git"),
      GIT_WORK_TREE: other.folder,
      GIT_OBJECT_DIRECTORY: join(other.folder, ".git/objects"),
      GIT_EXTERNAL_DIFF: trap("env-diff"),
      GIT_PAGER: trap("env-pager"),
      GIT_SSH_COMMAND: trap("env-ssh"),
      GIT_EXEC_PATH: traps,
      GIT_TRACE: join(traps, "trace.sprung"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: trap("env-fsmonitor"),
      LD_PRELOAD: "",
    });
    const source = await repository.open();
    expect(await readText(source, "blob/HEAD/a.txt")).toBe("one changed\n");
    await askAll(source);
    expect(sprung()).toEqual([]);
  });

  it("does not provide the git that reads it", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    for (const folder of [repository.folder, join(traps, "node_modules/.bin")]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "git"), `#!/bin/sh\n'${trap("git")}'\n`);
      chmodSync(join(folder, "git"), 0o755);
    }
    const link = join(traps, "bin");
    symlinkSync(repository.folder, link);
    process.env["PATH"] = `.::${repository.folder}:${link}:${join(traps, "node_modules/.bin")}:${realPath}`;
    expect(await readText(await repository.open(), "blob/HEAD/a.txt")).toBe("a");
    expect(sprung()).toEqual([]);
  });

  it("cannot replace its content: neither replacements nor grafts apply", async () => {
    const repository = testRepository();
    const first = repository.commit("first", { "a.txt": "true" });
    const second = repository.commit("second", { "a.txt": "also true" });
    const fake = repository.gitBytes(["hash-object", "-w", "--stdin"], "false").toString().trim();
    repository.git("replace", repository.git("rev-parse", "HEAD:a.txt"), fake);
    repository.write(".git/info/grafts", `${second}\n`);
    const source = await repository.open();
    expect(await readText(source, "blob/HEAD/a.txt")).toBe("also true");
    expect(await readFacts(source, "log")).toMatchObject({ commits: [{ hash: second }, { hash: first }] });
  });

  it("with impossible names shows the rest", async () => {
    const repository = testRepository();
    const hash = repository.gitBytes(["hash-object", "-w", "--stdin"], "x").toString().trim();
    const raw = (mode: string, name: Buffer) =>
      Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(hash, "hex")]);
    const names = ["..", ".", "", "a/b", "../../etc", "good.txt", "good.txt", "new\nline.txt", ".git"];
    const entries = [
      ...names.map((name) => raw("100644", Buffer.from(name))),
      raw("100644", Buffer.from([0xff, 0xfe])),
    ];
    const tree = repository
      .gitBytes(["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], Buffer.concat(entries))
      .toString()
      .trim();
    const commit = repository.git("commit-tree", tree, "-m", "odd");
    repository.git("update-ref", "refs/heads/main", commit);
    const source = await repository.open();
    const { items } = await source.children!({ path: "tree/main" }, { limit: 100 }, call);
    expect(items.map(({ path }) => path)).toEqual(["tree/main/good.txt", "tree/main/new\nline.txt"]);
    expect(await readText(source, "blob/main/new\nline.txt")).toBe("x");
    for (const path of ["blob/main/a/b", pathOf(["blob", "main", "a/b"]), "blob/main/..", "blob/main/"])
      await refusal(source.read({ path }, call), ["not-found"], path);
  });

  it("whose HEAD, refs, config or objects are garbage fails with a message, and nothing hangs", async () => {
    const spoil: readonly ((repository: TestRepository) => void)[] = [
      ({ write }) => write(".git/HEAD", "ref: ../../../etc/passwd\n"),
      ({ write }) => write(".git/HEAD", "garbage".repeat(10_000)),
      ({ write }) => write(".git/config", "[core\n garbage \0"),
      ({ write }) => write(".git/refs/heads/main", "garbage\n"),
      ({ write }) => write(".git/packed-refs", Buffer.from([0xff, 0, 1, 2, 10])),
      ({ write }) => write(".git/index", "garbage"),
      ({ write, git }) => {
        const hash = git("rev-parse", "HEAD:a.txt");
        const file = `.git/objects/${hash.slice(0, 2)}/${hash.slice(2)}`;
        chmodSync(join(git("rev-parse", "--show-toplevel"), file), 0o644);
        write(file, "garbage");
      },
    ];
    for (const [index, how] of spoil.entries()) {
      const repository = testRepository();
      repository.commit("first", { "a.txt": "a" });
      how(repository);
      const source = await repository.open();
      for (const path of ["status", "log", "branches", "blob/HEAD/a.txt", "commit/main"]) {
        const asked = source.read({ path }, call);
        const settled = await asked.then(
          () => undefined,
          async () => refusal(asked, ["unavailable", "not-found"], `${index} ${path}`),
        );
        expect(settled?.message ?? "").not.toContain(repository.folder);
      }
    }
  });

  it("with pipes instead of files does not block", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    const pipe = (name: string) => execFileSync("mkfifo", [join(repository.folder, ".git", name)]);
    for (const name of ["config.worktree", "commondir"]) pipe(name);
    expect(await readText(await repository.open(), "blob/HEAD/a.txt")).toBe("a");
    pipe("shallow");
    const asked = (await repository.open()).read({ path: "blob/HEAD/a.txt" }, call);
    expect((await refusal(asked, ["unavailable"], "a pipe")).message).toContain("a pipe or a device");
  });

  it("with secrets in its config reveals none of them", async () => {
    const repository = testRepository();
    repository.commit("first", { "a.txt": "a" });
    repository.git("remote", "add", "origin", "https://me:hunter2@example.org/x.git");
    repository.git("config", "http.extraHeader", "Authorization: hunter2");
    repository.git("config", "branch.main.remote", "https://me:hunter2@example.org/x.git");
    const source = await repository.open();
    const out: unknown[] = [];
    for (const path of ["status", "branches", "tags", "log", "commit/HEAD", "commit/nothing", "blob/HEAD/a.txt"])
      out.push(await source.read({ path }, call).catch((cause: unknown) => `${cause}`));
    expect(JSON.stringify([out, repository.logged])).not.toContain("hunter2");
    expect(readFileSync(join(repository.folder, ".git/config"), "utf8")).toContain("hunter2");
  });
});
