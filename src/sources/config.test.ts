/** The config source on real files: masked values, precedence, and that no request reveals a secret. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { wait } from "../lib/wait.ts";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Source, SourceChange } from "../source.ts";
import { sourceContract, sweepFaults } from "../testing/index.ts";
import { collectChanges } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { refusal } from "../testing/refusal.ts";
import definition, { type ConfigOptions, openConfig } from "./config.ts";
import type { Effective } from "./config/effective.ts";
import type { SettingFact } from "./config/facts.ts";
import { type ConfigFiles, openFiles } from "./config/files.ts";

let folder: string;
let stop: AbortController;
const opened: Source[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-config-"));
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
  rmSync(folder, { recursive: true, force: true });
});

const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });

function put(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function parse(options: object): ConfigOptions {
  return definition.options(z).parse({ root: folder, ...options });
}

function open(options: object = {}, env: Readonly<Record<string, string>> = {}, files?: typeof openFiles): Source {
  const source = openConfig(parse(options), { wait }, env, files);
  opened.push(source);
  return source;
}

async function textAt(source: Source, path: string): Promise<string> {
  const [part] = await source.read({ path }, call());
  if (!part || !("text" in part.body)) throw new Error("the content is not text");
  return part.body.text;
}

async function jsonAt<T>(source: Source, path: string): Promise<T> {
  return JSON.parse(await textAt(source, path)) as T;
}

async function valuesAt(source: Source, path: string): Promise<readonly SettingFact[]> {
  return (await jsonAt<{ values: readonly SettingFact[] }>(source, path)).values;
}

let writes = 0;
sourceContract("config", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  content: { effective: undefined, env: undefined, "file/.env": undefined, "file/conf/app.yaml": undefined },
  async open() {
    put(".env", "A=1\n");
    put("conf/app.yaml", "server:\n  port: 80\n");
    return open({ files: [".env", "conf/app.yaml"] }, { HOME: "/home/me", "odd/name": "x", 日本: "y" });
  },
  change() {
    writes += 1;
    put(".env", `A=${writes}\n`);
    return [{ kind: "changed", path: "file/.env" }];
  },
  expansions: [{ at: { path: "env/HOME" } }, { at: { path: "file/conf/app.yaml" } }],
  completions: [
    { template: "env/{name}", variable: "name", value: "HO", expected: "HOME" },
    { template: "file/{+path}", variable: "path", value: "conf/", expected: "conf/app.yaml" },
  ],
});

describe("what is shown of a value", () => {
  it("of a name that is not allowed: that it is set, where, and a fingerprint", async () => {
    put(".env", "# first\nAPI_TOKEN=abc\nEMPTY=\n");
    const source = open({ files: [".env"] }, { API_TOKEN: "abc", OTHER: "abcd" });
    const fingerprint = expect.stringMatching(/^[0-9a-f]{16}$/);
    const [token, empty] = await valuesAt(source, "file/.env");
    expect(token).toEqual({ name: "API_TOKEN", set: true, source: { file: ".env", line: 2 }, fingerprint });
    expect(empty).toEqual({ name: "EMPTY", set: false, source: { file: ".env", line: 3 } });
    const inEnv = await jsonAt<SettingFact>(source, "env/API_TOKEN");
    expect(inEnv).toEqual({ name: "API_TOKEN", set: true, source: { variable: "API_TOKEN" }, fingerprint });
    expect(inEnv.fingerprint).toBe(token?.fingerprint);
    expect((await jsonAt<SettingFact>(source, "env/OTHER")).fingerprint).not.toBe(token?.fingerprint);
  });

  it("of a harmless name, or one that the config allows: all of it", async () => {
    put("app.yaml", "server:\n  port: 80\n  tls: true\n  password: hunter2\nlog: debug\nother: x\n");
    const source = open({ files: ["app.yaml"], show: ["server.*", "log"] }, { NODE_ENV: "production", LC_ALL: "C" });
    expect((await valuesAt(source, "file/app.yaml")).map(({ name, value }) => [name, value])).toEqual([
      ["server.port", 80],
      ["server.tls", true],
      ["server.password", undefined],
      ["log", "debug"],
      ["other", undefined],
    ]);
    expect((await valuesAt(source, "env")).map(({ name, value }) => [name, value])).toEqual([
      ["LC_ALL", "C"],
      ["NODE_ENV", "production"],
    ]);
  });

  it("never contains a secret, even if it may be shown", async () => {
    const token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAc7"].join("");
    const shown = {
      URL: "postgres://app:hunter2@db:5432/app?sslmode=require",
      USER_ONLY: "https://token123@host/x",
      TWO: "redis://:pw1@one:1,redis://:pw2@two:2",
      SLASHED: "postgres://app:hun/ter2@db/app",
      DOUBLED: "postgres://app:hun://ter2@db/app",
      SCOPED: "https://registry.example:8080/@scope/name",
      PAIRS: "Server=db;Password=hunter2;",
      HIDDEN: token,
      SIGNED: "https://host/x?sig=hunter2",
      PLAIN: "just text",
    };
    const values = await valuesAt(open({ show: Object.keys(shown) }, shown), "env");
    expect(Object.fromEntries(values.map(({ name, value }) => [name, value]))).toEqual({
      URL: "postgres://db:5432/app?sslmode=require",
      USER_ONLY: "https://host/x",
      TWO: "redis://one:1,redis://two:2",
      SLASHED: undefined,
      DOUBLED: undefined,
      SCOPED: "https://registry.example:8080/@scope/name",
      PAIRS: undefined,
      HIDDEN: undefined,
      SIGNED: undefined,
      PLAIN: "just text",
    });
  });

  it("shows a value with the name of a secret only if it is named literally", async () => {
    const env = { DB_PASSWORD: "changeit", SESSION_NAME: "sid", FREE: "x" };
    const named = async (show: readonly string[]) =>
      (await valuesAt(open({ show }, env), "env")).filter(({ value }) => value !== undefined).map(({ name }) => name);
    expect(await named(["*"])).toEqual(["FREE"]);
    expect(await named(["SESSION_NAME"])).toEqual(["SESSION_NAME"]);
  });

  it("masks a name that is itself a secret", async () => {
    const token = ["gh", "p_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAc7"].join("");
    put("users.json", JSON.stringify({ [token]: "alice", MIIEvQIBADANBgkqhkiG9w0BAQEFAASC: "x" }));
    const source = open({ files: ["users.json"] }, { [token]: "1" });
    expect((await valuesAt(source, "file/users.json")).map(({ name }) => name)).toEqual(["[masked]", "[masked]"]);
    expect(await textAt(source, "env")).not.toContain(token);
    await refusal(source.read({ path: `env/${token}` }, call()), ["not-found"], "a token as a name");
  });

  it("serves the environment only as far as configured", async () => {
    const env = { APP_ONE: "1", APP_TWO: "2", OTHER: "3" };
    const some = open({ env: ["APP_*"] }, env);
    expect((await valuesAt(some, "env")).map(({ name }) => name)).toEqual(["APP_ONE", "APP_TWO"]);
    await refusal(some.read({ path: "env/OTHER" }, call()), ["not-found"], "another name");
    const none = open({ env: false }, env);
    for (const path of ["env", "env/OTHER"]) await refusal(none.read({ path }, call()), ["not-found"], path);
    expect((await namesIn(none)).filter((path) => path.startsWith("env"))).toEqual([]);
    expect((await jsonAt<Effective>(none, "effective")).values).toEqual([]);
  });
});

async function namesIn(source: Source): Promise<string[]> {
  return (await collect((cursor) => source.list(asking(10, cursor), call()))).map(({ path }) => path);
}

describe("what sets a value", () => {
  beforeEach(() => {
    put("default.yaml", "server:\n  port: 80\n  host: a\n");
    put("local.toml", "[server]\nport = 81\n");
    put(".env", "PORT=82\nSECRET=one\n");
  });
  const files = ["default.yaml", "local.toml", ".env"];

  it("is the environment, then the last file, by default", async () => {
    const source = open(
      { files, show: ["server.*"], variables: { PORT: "server.port" } },
      { PORT: "83", SECRET: "two" },
    );
    const { precedence, values } = await jsonAt<Effective>(source, "effective");
    expect(precedence).toEqual(["env", ".env", "local.toml", "default.yaml"]);
    expect(values).toMatchObject([
      { name: "SECRET", set: true, source: { variable: "SECRET" }, overrides: [{ source: { file: ".env", line: 2 } }] },
      { name: "server.host", value: "a", source: { file: "default.yaml", line: 3 } },
      {
        name: "server.port",
        value: "83",
        source: { variable: "PORT" },
        overrides: [
          { value: "82", source: { file: ".env", line: 1 } },
          { value: 81, source: { file: "local.toml", line: 2 } },
          { value: 80, source: { file: "default.yaml", line: 2 } },
        ],
      },
    ]);
    expect(values[0]?.fingerprint).not.toBe(values[0]?.overrides?.[0]?.fingerprint);
  });

  it("follows the configured precedence", async () => {
    const source = open({ files, show: ["*"], precedence: ["default.yaml", "local.toml"] }, { PORT: "83" });
    const { values } = await jsonAt<Effective>(source, "effective");
    expect(values.map(({ name, value }) => [name, value])).toEqual([
      ["server.host", "a"],
      ["server.port", 80],
    ]);
    expect(() => parse({ files, precedence: ["other.yaml"] })).toThrow("precedence");
  });

  it("names a file that cannot be read, and continues without it", async () => {
    put("local.toml", "[server\nport = hunter2");
    rmSync(join(folder, ".env"));
    const effective = await jsonAt<Effective>(open({ files, env: false }), "effective");
    expect(effective.broken).toEqual([
      { file: "local.toml", says: '"local.toml" is invalid at line 1: it is not valid TOML' },
    ]);
    expect(effective.values.map(({ name }) => name)).toEqual(["server.host", "server.port"]);
  });
});

describe("only files that the config names are read", () => {
  it("and no link that leaves the folder", async () => {
    const outside = mkdtempSync(join(tmpdir(), "pressmark-outside-"));
    try {
      writeFileSync(join(outside, "out.env"), "A=1\n");
      put("in/real.env", "B=2\n");
      put("unnamed.env", "C=3\n");
      symlinkSync(join(outside, "out.env"), join(folder, "out.env"));
      symlinkSync(outside, join(folder, "away"));
      symlinkSync("in/real.env", join(folder, "linked.env"));
      const source = open({ files: ["out.env", "away/out.env", "linked.env", "folder.env"], env: false });
      mkdirSync(join(folder, "folder.env"));
      expect(await namesIn(source)).toEqual(["effective", "file/linked.env"]);
      for (const path of ["out.env", "away/out.env", "unnamed.env", "in/real.env", "folder.env", "", "../x"])
        await refusal(source.read({ path: `file/${path}` }, call()), ["not-found"], path);
      expect((await valuesAt(source, "file/linked.env")).map(({ name }) => name)).toEqual(["B"]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("including hidden, ignored and secret ones, but no other hidden file, not even through a link, and none of git's", async () => {
    put(".gitignore", "local.env\nprivate/\n");
    const named = [".env", ".config/a.env", "local.env", "private/b.env", "odd [x]*? !#.env"];
    for (const path of [...named, ".env.shared", "private/unnamed.env", "odd [x]zz !#.env"]) put(path, "A=1\n");
    put(".git/config", "[core]\nbare = false\n");
    symlinkSync(".env.shared", join(folder, "to-hidden.env"));
    symlinkSync("private/unnamed.env", join(folder, "to-ignored.env"));
    symlinkSync(".config/a.env", join(folder, "to-named.env"));
    const links = ["to-hidden.env", "to-ignored.env", "to-named.env"];
    const git = { path: ".git/config", format: "ini" };
    const source = open({ files: [...named, ...links, git], env: false });
    const listed = [...named, "to-named.env"].map((path) => `file/${path}`);
    expect((await namesIn(source)).sort()).toEqual(["effective", ...listed].sort());
    for (const path of ["to-hidden.env", "to-ignored.env", ".git/config", ".env.shared", "odd [x]zz !#.env"])
      await refusal(source.read({ path: `file/${path}` }, call()), ["not-found"], path);
  });

  it("including those behind the switched links of a mounted volume", async () => {
    for (const path of ["app/..2026_01/settings.env", "app/..2026_01/.env"]) put(path, "A=1\n");
    symlinkSync("..2026_01", join(folder, "app/..data"));
    for (const name of ["settings.env", ".env"]) symlinkSync(`..data/${name}`, join(folder, "app", name));
    const source = open({ files: ["app/settings.env", "app/.env"], env: false });
    expect(await namesIn(source)).toEqual(["effective", "file/app/.env", "file/app/settings.env"]);
  });

  it("and no path that could leave the root is accepted from the config", () => {
    for (const path of ["/etc/x.env", "../x.env", "a/../x.env", "a//x.env", "./x.env", "", "a\0.env", "notes.txt"])
      expect(() => parse({ files: [path] }), path).toThrow();
    expect(parse({ files: [{ path: "notes.txt", format: "ini" }] }).files).toHaveLength(1);
  });

  it("and only up to the size limit", async () => {
    put("huge.json", `{"a": "${"x".repeat(2000)}"}`);
    put("bytes.ini", new Uint8Array([0, 1, 2, 255, 0, 0, 7, 200]));
    const source = open({ files: ["huge.json", "bytes.ini"], maxBytes: 1024 });
    await refusal(source.read({ path: "file/huge.json" }, call()), ["too-large"], "huge");
    await refusal(source.read({ path: "file/bytes.ini" }, call()), ["invalid"], "bytes");
    expect((await source.problems?.(call()))?.map(({ path }) => path)).toEqual(["huge.json", "bytes.ini"]);
    put("huge.json", "{");
    expect(await open({ files: ["huge.json", "gone.env"] }).problems?.(call())).toEqual([
      { path: "huge.json", line: 1, says: "is invalid: unexpected end of the text" },
      expect.objectContaining({ path: "gone.env", says: "does not exist" }),
    ]);
  });

  it("in any encoding", async () => {
    put(
      "sjis.ini",
      new Uint8Array([
        0x5b, 0x93, 0xfa, 0x96, 0x7b, 0x5d, 0x0a, 0x61, 0x3d, 0x31, 0x0a, 0x3b, 0x20, 0x83, 0x65, 0x83, 0x58, 0x83,
        0x67, 0x8c, 0xea, 0x0a,
      ]),
    );
    put("wide.ini", Buffer.from("\ufeff[a]\nb=1\n", "utf16le"));
    const source = open({ files: ["sjis.ini", "wide.ini"], env: false });
    expect((await valuesAt(source, "file/sjis.ini")).map(({ name }) => name)).toEqual(["日本.a"]);
    expect((await valuesAt(source, "file/wide.ini")).map(({ name }) => name)).toEqual(["a.b"]);
  });
});

it("reports files that appear, change and disappear, also when they are replaced", async () => {
  put(".env", "A=1\n");
  const source = open({ files: [".env", "later/app.json"], pollMs: 100 });
  const { heard, until } = collectChanges<SourceChange>(await source.watch!(call()));
  const said = (kind: string, path: string) =>
    until((change) => change.kind === kind && "path" in change && change.path === path, `${kind} ${path}`);
  put(".env", "A=22\n");
  await said("changed", "file/.env");
  await said("changed", "effective");
  put("next", "A=333\n");
  const before = heard.length;
  renameSync(join(folder, "next"), join(folder, ".env"));
  await until((change) => heard.indexOf(change) >= before && "path" in change && change.path === "file/.env", "a swap");
  put("later/app.json", "{}");
  await said("appeared", "file/later/app.json");
  rmSync(join(folder, ".env"));
  await said("gone", "file/.env");
});

async function ask(source: Source): Promise<void> {
  await source.list(asking(10), call());
  await source.read({ path: "file/.env" }, call());
  await source.read({ path: "effective" }, call());
  await source.stat?.({ path: "file/app.yaml" }, call());
  await source.problems?.(call());
}

it("reports an error of our own when any disk access fails, and works again afterwards", async () => {
  put(".env", "A=1\n");
  put("app.yaml", "a: 1\n");
  const files = [".env", "app.yaml"];
  let source: Source;
  const failed = await sweepFaults<ConfigFiles>({
    open: () =>
      openFiles({
        root: folder,
        files: files.map((path) => ({ path, format: path === ".env" ? "dotenv" : "yaml" })),
        maxBytes: 10_000,
      }),
    async run(faulty) {
      source = open({ files }, {}, () => faulty);
      await ask(source);
    },
    recovered: () => ask(source),
    faults: [() => new ResourceError("unavailable", "the disk is gone")],
  });
  expect(failed).toBeGreaterThan(5);
});

it("a missing folder does not prevent the start, and is served once it exists", async () => {
  const source = open({ root: join(folder, "later"), files: ["a.env"], env: false });
  await refusal(source.list(asking(10), call()), ["unavailable"], "no folder");
  put("later/a.env", "A=1");
  expect(await namesIn(source)).toEqual(["effective", "file/a.env"]);
});
