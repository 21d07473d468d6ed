/** `init`, `config`, `trust`, `doctor` and `add`, with their own project and home folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../main.ts";

let root: string;
let folder: string;
let home: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-setup-")));
  folder = join(root, "project");
  home = join(root, "home");
  for (const name of [join(folder, "docs"), home, join(root, "outside")]) mkdirSync(name, { recursive: true });
  writeFileSync(join(folder, "docs/a.md"), "A");
  writeFileSync(join(root, "outside/o.md"), "O");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** `answer` is typed on a terminal after `asked` appears; without it there is no terminal. */
async function pressmark(
  words: readonly string[],
  { answer = "", asked = () => {}, from = folder, env = {} } = {},
): Promise<Ran> {
  const input = Object.assign(new PassThrough(), { isTTY: answer !== "" });
  const [out, err] = [new PassThrough(), new PassThrough()];
  const heard = Promise.all([text(out), text(err)]);
  for (const screen of [out, err])
    screen.on("data", (chunk: Buffer) => {
      if (answer === "" || !String(chunk).includes("[y/N]")) return;
      asked();
      input.write(answer);
    });
  const code = await main(words, {
    version: "1.2.3",
    folder: from,
    env: { XDG_STATE_HOME: join(root, "state"), HOME: home, PATH: "/usr/bin:/bin", ...env },
    input,
    out,
    err,
    signal: new AbortController().signal,
  });
  out.end();
  err.end();
  const [said, complaints] = await heard;
  return { code, out: said, err: complaints };
}

function config(content: string, name = "pressmark.config.yaml"): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

function program(mount: string): string {
  return `export default { mounts: { m: { source: "file", root: ${JSON.stringify(mount)} } } };`;
}

const outside = "mounts:\n  docs: { source: file, root: docs }\n  out: { source: file, root: ../outside }\n";

describe("init", () => {
  it("shows what it found and writes a config that serves it", async () => {
    execFileSync("git", ["init", "-q", folder]);
    mkdirSync(join(folder, "node_modules/pressmark/docs"), { recursive: true });
    writeFileSync(join(folder, "node_modules/pressmark/docs/pressmark.schema.json"), "{}");
    const { code, out, err } = await pressmark(["init", "--yes"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Found:\n");
    expect(out).toContain("  git repository  .git\n");
    expect(out).toContain("  documentation  docs\n");
    const written = readFileSync(join(folder, "pressmark.config.yaml"), "utf8");
    expect(out).toContain(written);
    expect(written.split("\n")[0]).toBe(
      "# yaml-language-server: $schema=./node_modules/pressmark/docs/pressmark.schema.json",
    );
    const listed = await pressmark(["ls", "--all"]);
    expect([listed.code, listed.out]).toEqual([0, expect.stringContaining("docs/a.md")]);
  });

  it("has secrets masked where settings that are served hold some", async () => {
    execFileSync("git", ["init", "-q", folder]);
    mkdirSync(join(folder, "config"));
    writeFileSync(join(folder, "config/default.json"), '{ "port": 80, "title": "A project" }');
    writeFileSync(join(folder, ".env"), "API_KEY=sk_live_4eC39HqLyjWDarjtT1zdp7dc\n");
    await pressmark(["init", "--yes"]);
    const file = join(folder, "pressmark.config.yaml");
    // Hidden files are never served by the source file.
    expect(readFileSync(file, "utf8")).not.toContain("redact");

    writeFileSync(join(folder, "config/production.json"), '{ "db": { "password": "4eC39HqLyjWDarjtT1zdp7dc" } }');
    const { out } = await pressmark(["init", "--yes", "--force"]);
    const written = readFileSync(file, "utf8");
    expect(written).toContain(
      "  # Secrets in its texts are masked, because these files contain some: config/production.json.\n  files:\n    source: file\n    root: .\n    redact: true\n",
    );
    expect(written).toContain("  project:\n    source: git\n    root: .\n    redact: true\n");
    expect(out).not.toContain("4eC39HqLyjWDarjtT1zdp7dc");
    expect((await pressmark(["read", "config/production.json"])).out).toContain("[masked]");
  });

  it("asks, and writes nothing without a yes", async () => {
    expect(await pressmark(["init"], { answer: "n\n" })).toMatchObject({
      code: 1,
      err: "pressmark: nothing was written\n",
    });
    expect(await pressmark(["init"])).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") });
    expect(readdirSync(folder)).toEqual(["docs"]);
    expect(await pressmark(["init"], { answer: "y\n" })).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(["docs", "pressmark.config.yaml"]);
  });

  it("replaces nothing unless forced, and no config of another kind at all", async () => {
    const file = config("# mine\n");
    expect(await pressmark(["init", "--yes"])).toMatchObject({
      code: 2,
      err: "pressmark: pressmark.config.yaml exists already; --force replaces it\n",
    });
    expect(readFileSync(file, "utf8")).toBe("# mine\n");
    expect(await pressmark(["init", "--yes", "--force"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toContain("mounts:");
    rmSync(file);
    config("{}", "pressmark.config.json");
    expect(await pressmark(["init", "--yes", "--force"])).toMatchObject({
      code: 2,
      err: "pressmark: pressmark.config.json exists already, and a folder can have only one config; remove it first\n",
    });
  });
});

describe("a file that changes during the confirmation", () => {
  it.each([
    ["pressmark.config.yaml", ["init"], undefined],
    ["pressmark.config.yaml", ["init", "--force"], "# mine\n"],
    [".mcp.json", ["add", "claude-code"], undefined],
    [".mcp.json", ["add", "claude-code"], "{}\n"],
  ])("%s stays as it is then (%j)", async (name, words, before) => {
    const file = join(folder, name);
    if (before !== undefined) writeFileSync(file, before);
    const asked = () => writeFileSync(file, "{}\n\n");
    const { code, err } = await pressmark(words, { answer: "y\n", asked });
    expect([code, err]).toEqual([2, expect.stringContaining("changed in the meantime; nothing was written")]);
    expect(readFileSync(file, "utf8")).toBe("{}\n\n");
    expect(readdirSync(folder).filter((each) => each.includes(".pressmark-"))).toEqual([]);
  });

  it("is backed up before it is replaced", async () => {
    const file = config("# mine\n");
    const { out } = await pressmark(["init", "--force"], { answer: "y\n" });
    const [, copy = ""] = /is saved as (\S+?)[.;]\s/.exec(out) ?? [];
    expect(readFileSync(copy, "utf8")).toBe("# mine\n");
    expect(readFileSync(file, "utf8")).toContain("mounts:");
  });
});

describe("config", () => {
  it("shows what it comes to, with dots for secrets", async () => {
    const file = config("mounts: { m: { source: memory, resources: { a: '${env:SECRET}' } } }\n");
    const shown = `# ${file}\nmounts:\n  m:\n    source: memory\n    resources:\n      a: ••••\n`;
    const env = { SECRET: "hunter2" };
    expect(await pressmark(["config", file], { env })).toEqual({ code: 0, out: shown, err: "" });
    expect(await pressmark(["config"], { env })).toEqual({
      code: 0,
      out: shown,
      err: 'pressmark: it reads the environment variable "SECRET" for mounts.m.resources.a, which is left out until it is trusted; run: pressmark trust\n',
    });
  });

  it("shows as JSON what it asks for", async () => {
    const file = config(outside);
    const { code, out } = await pressmark(["config", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      file,
      mounts: { docs: { root: join(folder, "docs") }, out: { root: join(root, "outside") } },
      asks: [{ asks: expect.stringContaining("outside its own folder"), trusted: false }],
    });
    expect(JSON.parse((await pressmark(["config", file, "--json"])).out)).toMatchObject({ asks: [{ trusted: true }] });
  });

  it("reports all problems, and a missing config", async () => {
    expect(await pressmark(["config"])).toMatchObject({
      code: 3,
      err: expect.stringContaining('"pressmark init" writes one'),
    });
    config("mounts: { a: { source: fiel } }\nserver: { prot: 1 }\n");
    expect(await pressmark(["config"])).toMatchObject({
      code: 2,
      err: `pressmark: pressmark.config.yaml has 2 problems
  pressmark.config.yaml:1:24 mounts.a.source: unknown source "fiel"; did you mean "file"?
  pressmark.config.yaml:2:11 server.prot: unknown option; did you mean "port"?
`,
    });
  });
});

describe("trust", () => {
  it("shows the permissions, and allows them once granted", async () => {
    config(outside);
    expect((await pressmark(["ls", "--all"])).out).not.toContain("o.md");
    const trusted = await pressmark(["trust"], { answer: "yes\n" });
    expect(trusted).toMatchObject({ code: 0, err: "" });
    expect(trusted.out).toContain(
      [
        "  new      mounts.out",
        '             root: "../outside"',
        '             source: "file"',
        `           → reaches ${JSON.stringify(join(root, "outside"))}, outside its own folder, for mounts.out.root\n`,
      ].join("\n"),
    );
    const listed = await pressmark(["ls", "--all"]);
    expect(listed.err).toBe("");
    expect(listed.out).toContain("o.md");
    expect(await pressmark(["trust"])).toMatchObject({ code: 0, out: expect.stringContaining("trusted  mounts.out") });
    expect(await pressmark(["trust", "--forget"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("is no longer trusted"),
    });
    expect((await pressmark(["ls", "--all"])).out).not.toContain("o.md");
  });

  it("needs a yes, and is found from a folder below, or by its folder", async () => {
    config(outside);
    expect(await pressmark(["trust"], { answer: "\n" })).toMatchObject({
      code: 1,
      err: "pressmark: nothing was trusted\n",
    });
    expect(await pressmark(["trust"])).toMatchObject({ code: 2 });
    expect(await pressmark(["trust", "project", "--yes"], { from: root })).toMatchObject({ code: 0 });
    expect((await pressmark(["ls", "--all"], { from: join(folder, "docs") })).out).toContain("o.md");
  });

  it("is for a program as it is now", async () => {
    config(program("docs"), "pressmark.config.ts");
    expect((await pressmark(["ls", "--all"])).err).toContain(
      "is not used until it is trusted; review it, then run: pressmark trust",
    );
    expect(await pressmark(["trust", "--yes"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("runs pressmark.config.ts as a program"),
    });
    expect(await pressmark(["ls", "--all"])).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringContaining("docs/a.md"),
    });
    config(program("../outside"), "pressmark.config.ts");
    expect((await pressmark(["ls", "--all"])).out).not.toContain("o.md");
  });

  it("is not needed without permissions, or without a config", async () => {
    expect(await pressmark(["trust"])).toMatchObject({
      code: 3,
      err: expect.stringContaining("there is nothing to trust"),
    });
    config("mounts: { docs: { source: file, root: docs } }");
    expect(await pressmark(["trust"])).toMatchObject({ code: 0, out: expect.stringContaining("needs no trust") });
  });
});

describe("add", () => {
  it("shows the change, asks, and keeps what was there", async () => {
    writeFileSync(join(folder, ".mcp.json"), '{\n  // mine\n  "mcpServers": {\n    "other": { "url": "x" }\n  }\n}\n');
    const refused = await pressmark(["add", "claude-code", "--http"], { answer: "no\n" });
    expect(refused).toMatchObject({ code: 1, err: "pressmark: nothing was written\n" });
    expect(refused.out).toContain(
      '  -     "other": { "url": "x" }\n  +     "other": { "url": "x" },\n  +     "pressmark": {\n',
    );
    expect(await pressmark(["add", "claude-code", "--http", "--yes"])).toMatchObject({ code: 0, err: "" });
    expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(`{
  // mine
  "mcpServers": {
    "other": { "url": "x" },
    "pressmark": {
      "type": "http",
      "url": "http://127.0.0.1:7357/mcp"
    }
  }
}
`);
    expect(readdirSync(join(root, "state/pressmark/backups"))).toHaveLength(1);
    expect(await pressmark(["add", "claude-code", "--http"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("is already configured"),
    });
  });

  it("writes the config's address, and the folder if the host needs it", async () => {
    config("server: { port: 7400 }\n");
    await pressmark(["add", "codex", "--scope", "user", "--http", "--yes"]);
    expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toBe(
      '[mcp_servers.pressmark]\nurl = "http://127.0.0.1:7400/mcp"\n',
    );
    await pressmark(["add", "cursor", "--scope", "user", "--yes"], { from: join(folder, "docs") });
    const { mcpServers } = JSON.parse(readFileSync(join(home, ".cursor/mcp.json"), "utf8")) as {
      mcpServers: { pressmark: { args: string[] } };
    };
    expect(mcpServers.pressmark.args.slice(-2)).toEqual(["stdio", folder]);
  });

  it("refers to the token that callers must send, and never writes it", async () => {
    config("server: { token: a-token-of-good-length }\n");
    const codex = await pressmark(["add", "codex", "--http", "--yes"]);
    expect(codex.out).toContain("The host reads the token from PRESSMARK_TOKEN");
    expect(readFileSync(join(folder, ".codex/config.toml"), "utf8")).toBe(
      '[mcp_servers.pressmark]\nurl = "http://127.0.0.1:7357/mcp"\nbearer_token_env_var = "PRESSMARK_TOKEN"\n',
    );
    config("server: {}\n");
    const zed = await pressmark(["add", "zed", "--http", "--yes"], {
      env: { PRESSMARK_TOKEN: "a-token-of-good-length" },
    });
    expect(zed.out).toContain("add the header Authorization: Bearer to its settings by hand");
    for (const { out } of [codex, zed]) expect(out).not.toContain("a-token-of-good-length");
  });

  it("refuses what it cannot do, and leaves malformed settings alone", async () => {
    expect(await pressmark(["add", "emacs"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("choose one of claude-code, vscode"),
    });
    expect(await pressmark(["add", "zed", "--scope", "world"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("takes project or user"),
    });
    expect(await pressmark(["add", "zed", "--stdio", "--http"])).toMatchObject({ code: 2 });
    config("server: { port: 0 }\n");
    expect(await pressmark(["add", "zed", "--http"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("choose a fixed port first"),
    });
    mkdirSync(join(folder, ".zed"));
    writeFileSync(join(folder, ".zed/settings.json"), "{ broken");
    expect(await pressmark(["add", "zed", "--yes"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("so fix it first"),
    });
    expect(readFileSync(join(folder, ".zed/settings.json"), "utf8")).toBe("{ broken");
  });
});

const redacted = (mount: string) => mount.replace("root: .", "root: ., redact: true");

function settle(value: string): void {
  mkdirSync(join(folder, "config"), { recursive: true });
  writeFileSync(join(folder, "config/local.yaml"), `server:\n  port: 80\npayment:\n  password: ${value}\n`);
}

function commit(): void {
  for (const words of [["init"], ["add", "-A"], ["commit", "-m", "first"]])
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd: folder, stdio: "ignore" });
}

describe("doctor", () => {
  it("reports that all is well, and which hosts have no entry yet", async () => {
    config("mounts: { docs: { source: file, root: docs } }\nserver: { port: 0 }\n");
    writeFileSync(join(home, ".claude.json"), "{}");
    const { code, out, err } = await pressmark(["doctor"], { env: { PRESSMARK_LOG: "warn" } });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^ok {6}node: /m);
    expect(out).toMatch(/^ok {6}config: .*pressmark\.config\.yaml can be read$/m);
    expect(out).toMatch(/^ok {6}mount docs: 1 resources, listed, read and watched$/m);
    expect(out).toMatch(
      /^hint {4}Claude Code: has no entry for Pressmark\n {10}→ pressmark add claude-code --scope user$/m,
    );
    await pressmark(["add", "claude-code", "--scope", "user", "--yes"]);
    expect((await pressmark(["doctor"])).out).toMatch(/^ok {6}Claude Code: has an entry for Pressmark/m);
  });

  describe("with settings that hold a secret", () => {
    const key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
    const settings = "  settings: { source: config, root: ., files: [config/local.yaml], env: false }\n";
    const files = "  project: { source: file, root: . }\n";
    const history = "  history: { source: git, root: . }\n";

    async function hints(...mounts: readonly string[]): Promise<string> {
      config(`mounts:\n${mounts.join("")}server: { port: 0 }\n`);
      await pressmark(["trust", "--yes"]);
      const { code, out } = await pressmark(["doctor"]);
      expect([code, out]).toEqual([0, expect.stringContaining("ok      mount settings: ")]);
      expect(out).not.toContain(key);
      return out
        .split("\n")
        .filter((line, at, lines) => /masks|redact/.test(line) || /masks/.test(lines[at - 1] ?? ""))
        .join("\n");
    }

    it("names every mount that shows what another masks, and what to do", async () => {
      settle(key);
      commit();
      expect(await hints(files, history, settings)).toBe(
        [
          "hint    mount project: shows secrets that mount settings masks: config/local.yaml:4",
          "          → write redact: true below mounts.project, or exclude the file by listing it in .pressmarkignore",
          "hint    mount history: shows secrets that mount settings masks: config/local.yaml:4",
          "          → write redact: true below mounts.history, or exclude the file by listing it in .pressmarkignore",
        ].join("\n"),
      );
      expect(await hints(redacted(files), history, settings)).not.toContain("mount project");
      expect(await hints(redacted(files), redacted(history), settings)).toBe("");
    });

    it("reports a password that redact does not recognise", async () => {
      settle("sunshine road");
      expect(await hints(redacted(files), settings)).toBe(
        [
          "hint    mount project: shows secrets that mount settings masks: config/local.yaml:4",
          "          → redact does not recognise these values as secrets; exclude the file by listing it in .pressmarkignore",
        ].join("\n"),
      );
      writeFileSync(join(folder, ".pressmarkignore"), "config/local.yaml\n");
      expect(await hints(files, settings)).toBe("");
    });

    it("finds nothing where the file is not served elsewhere, or holds no secret", async () => {
      settle(key);
      const docs = "  docs: { source: file, root: docs }\n";
      expect(await hints(docs, settings)).toBe("");
      settle("${PAYMENT_PASSWORD}");
      expect(await hints(files, settings)).toBe("");
    });
  });

  it("serves the folder without a config, and reports that", async () => {
    expect((await pressmark(["doctor"])).out).toMatch(
      /^ok {6}config: no config, so the folder itself is served\n {10}→ pressmark init writes one\nok {6}mount project: /m,
    );
  });

  it("finds what is broken: the config, a mount, a port, a host", async () => {
    config("mounts: { a: { source: file, rot: docs } }");
    expect(await pressmark(["doctor"])).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        'BROKEN  config: pressmark.config.yaml:1:30 mounts.a.rot: unknown option; did you mean "root"?',
      ),
      err: expect.stringMatching(/failed; see above\n$/),
    });
    const taken = createServer((_, response) => response.end("something else"));
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    config(`mounts: { a: { source: file, root: nowhere } }\nserver: { port: ${port} }`);
    mkdirSync(join(home, ".codex"));
    writeFileSync(join(home, ".codex/config.toml"), '[mcp_servers.pressmark]\ncommand = "no-such-program"\n');
    const { code, out } = await pressmark(["doctor", "--json"]);
    await new Promise((resolve) => taken.close(resolve));
    const broken = (JSON.parse(out) as { about: string; state: string; says: string }[]).filter(
      ({ state }) => state === "broken",
    );
    expect([code, broken.map(({ about }) => about)]).toEqual([1, ["config", "address", "Codex"]]);
    expect(broken[0]!.says).toContain("nowhere");
    expect(broken[2]!.says).toContain('starts "no-such-program", which does not exist');
  });

  it("checks the other mounts if one has a problem, and passes if that one is optional", async () => {
    const absent = 'mounts:\n  docs: { source: file, root: docs }\n  db: { source: file, root: "${env:ABSENT}" }\n';
    config(`${absent}server: { port: 0 }\n`);
    await pressmark(["trust", "--yes"]);
    const { code, out } = await pressmark(["doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^ok {6}config: .* is used without db$/m);
    expect(out).toMatch(
      /^BROKEN {2}mount db: is left out: pressmark\.config\.yaml:3:29 mounts\.db\.root: .*"ABSENT" is not set/m,
    );
    expect(out).toMatch(/^ok {6}mount docs: 1 resources, listed, read and watched$/m);
    expect(await pressmark(["config"])).toMatchObject({ code: 2, err: expect.stringContaining("mounts.db.root") });
    const down = '  down: { source: mcp, url: "http://127.0.0.1:1/mcp", optional: true }\n';
    config(`${absent.replace('}"', '}", optional: true')}${down}server: { port: 0 }\n`);
    await pressmark(["trust", "--yes"]);
    const passing = await pressmark(["doctor"]);
    expect(passing).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^hint {4}mount db: is left out, as it is optional: /m),
    });
    expect(passing.out).toMatch(/^hint {4}mount down: cannot be listed: /m);
    expect((await pressmark(["config"])).code).toBe(0);
  });

  it("reports what is not trusted yet", async () => {
    config(`${outside}server: { port: 0 }\n`);
    const { code, out } = await pressmark(["doctor"]);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^hint {4}config: it reaches ".*outside", .* which is left out until it is trusted\n {10}→ pressmark trust$/m,
    );
  });
});
