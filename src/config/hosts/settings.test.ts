import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProgram, type HostContext, stdioConnection, wrongWith } from "./connection.ts";
import { type HostConnection, type HostFile, hostFiles, hostNames, type HostScope } from "./hosts.ts";
import { planChange, readEntry, writeChange } from "./settings.ts";

let root: string;
let project: string;
let home: string;
let here: HostContext;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-hosts-")));
  project = join(root, "project");
  home = join(root, "home");
  for (const folder of [project, home, join(root, "bin")]) mkdirSync(folder);
  here = {
    project,
    url: "http://127.0.0.1:7357/mcp",
    env: { PATH: join(root, "bin") },
    program: join(root, "pressmark.js"),
  };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function fileOf(host: string, scope: HostScope): HostFile {
  const files = hostFiles({ project, home, env: {}, platform: "linux" });
  return files.find((each) => each.host === host && each.scope === scope)!;
}

function shortFile(host: string, scope: HostScope): string {
  return fileOf(host, scope).file.replace(root, "");
}

function install(name: string): void {
  writeFileSync(join(root, "bin", name), "#!/bin/sh\n");
  chmodSync(join(root, "bin", name), 0o755);
}

const http: HostConnection = { kind: "http", url: "http://127.0.0.1:7357/mcp" };

describe("the settings of a host", () => {
  it("are where the host looks for them", () => {
    expect(hostNames.map((host) => [shortFile(host, "project"), shortFile(host, "user")])).toEqual([
      ["/project/.mcp.json", "/home/.claude.json"],
      ["/project/.vscode/mcp.json", "/home/.config/Code/User/mcp.json"],
      ["/project/.codex/config.toml", "/home/.codex/config.toml"],
      ["/project/.cursor/mcp.json", "/home/.cursor/mcp.json"],
      ["/project/.zed/settings.json", "/home/.config/zed/settings.json"],
    ]);
    const moved = hostFiles({
      project,
      home,
      env: { CODEX_HOME: "/c", XDG_CONFIG_HOME: "/x", CLAUDE_CONFIG_DIR: "/d" },
      platform: "linux",
    });
    expect(moved.filter(({ scope }) => scope === "user").map(({ file }) => file)).toEqual(
      expect.arrayContaining(["/c/config.toml", "/x/zed/settings.json", "/x/Code/User/mcp.json", "/d/.claude.json"]),
    );
    const mac = hostFiles({ project, home, env: {}, platform: "darwin" });
    expect(mac.map(({ file }) => file)).toContain(join(home, "Library/Application Support/Code/User/mcp.json"));
  });

  it.each(hostNames)("of %s say after the change what was meant, in both scopes and both ways", (host) => {
    for (const scope of ["project", "user"] as const)
      for (const connection of [http, stdioConnection(fileOf(host, scope), here)]) {
        const file = fileOf(host, scope);
        writeChange(planChange(file, connection), join(root, "backups"));
        expect(readEntry(file)).toEqual(file.render(connection));
        const again = planChange(file, connection);
        expect(again.after).toBe(again.before);
      }
  });

  it("keep other keys of the server's entry", () => {
    const file = fileOf("claude-code", "project");
    writeFileSync(
      file.file,
      '{\n  "mcpServers": {\n    "pressmark": { "command": "old", "args": [], "env": { "A": "1" } }\n  }\n}\n',
    );
    writeChange(planChange(file, http), join(root, "backups"));
    expect(readEntry(file)).toEqual({ type: "http", url: http.url, env: { A: "1" } });
  });

  it("refer to the token where one must be sent, and no longer once the host starts the server itself", () => {
    const guarded: HostConnection = { ...http, tokenVariable: "PRESSMARK_TOKEN" };
    const sent = Object.fromEntries(
      hostNames.map((host) => {
        const file = fileOf(host, "project");
        writeChange(planChange(file, guarded), join(root, "backups"));
        const again = planChange(file, guarded);
        expect(again.after).toBe(again.before);
        const { headers, bearer_token_env_var: variable } = readEntry(file)!;
        writeChange(planChange(file, stdioConnection(file, here)), join(root, "backups"));
        expect(readEntry(file)).toEqual(file.render(stdioConnection(file, here)));
        return [host, headers ?? variable];
      }),
    );
    expect(sent).toEqual({
      "claude-code": { Authorization: "Bearer ${PRESSMARK_TOKEN}" },
      vscode: { Authorization: "Bearer ${input:pressmark-token}" },
      codex: "PRESSMARK_TOKEN",
      cursor: { Authorization: "Bearer ${env:PRESSMARK_TOKEN}" },
      zed: undefined,
    });
  });

  it("keep the headers that a person set, and what VS Code asks for beside the token", () => {
    const file = fileOf("vscode", "project");
    mkdirSync(dirname(file.file), { recursive: true });
    const own = { inputs: [{ id: "other" }], servers: { pressmark: { url: http.url, headers: { "X-Own": "1" } } } };
    writeFileSync(file.file, JSON.stringify(own, undefined, 2));
    writeChange(planChange(file, { ...http, tokenVariable: "PRESSMARK_TOKEN" }), join(root, "backups"));
    expect(readEntry(file)!["headers"]).toEqual({ Authorization: "Bearer ${input:pressmark-token}", "X-Own": "1" });
    const { inputs } = JSON.parse(readFileSync(file.file, "utf8")) as { inputs: { id: string }[] };
    expect(inputs.map(({ id }) => id)).toEqual(["other", "pressmark-token"]);
  });

  it("are written with a copy of what was there, through links, with the permissions they had", () => {
    const file = fileOf("claude-code", "user");
    const real = join(root, "dotfiles.json");
    writeFileSync(real, '{ "secret": "token" }\n');
    chmodSync(real, 0o640);
    symlinkSync(real, file.file);
    const backup = writeChange(planChange(file, http), join(root, "backups"))!;
    expect(readFileSync(backup, "utf8")).toBe('{ "secret": "token" }\n');
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(realpathSync(file.file)).toBe(real);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(JSON.parse(readFileSync(real, "utf8"))).toMatchObject({
      secret: "token",
      mcpServers: { pressmark: { url: http.url } },
    });
  });

  it("are not written over a change that was made in the meantime", () => {
    const file = fileOf("cursor", "user");
    mkdirSync(dirname(file.file), { recursive: true });
    writeFileSync(file.file, "{}");
    const change = planChange(file, http);
    writeFileSync(file.file, '{ "other": 1 }');
    expect(() => writeChange(change, join(root, "backups"))).toThrow("changed in the meantime; nothing was written");
    expect(readFileSync(file.file, "utf8")).toBe('{ "other": 1 }');
  });

  it("that are malformed are refused with the place, and without what they hold", () => {
    const file = fileOf("claude-code", "user");
    writeFileSync(file.file, '{\n  "token": "hunter2"\n  oops }');
    expect(() => planChange(file, http)).toThrow(
      `${file.file}:3:3: expected "," or "}"; Claude Code cannot read it either, so fix it first`,
    );
    const codex = fileOf("codex", "user");
    mkdirSync(dirname(codex.file));
    writeFileSync(codex.file, "model = \n");
    expect(() => readEntry(codex)).toThrow(`${codex.file}:1:9: expected a value; Codex cannot read it either`);
  });
});

describe("how a host starts Pressmark", () => {
  it("is by name where it is installed, through npx where the project has it, else by its path", () => {
    const file = fileOf("claude-code", "project");
    expect(stdioConnection(file, here)).toMatchObject({ command: "node", args: [here.program, "stdio"] });
    mkdirSync(join(project, "node_modules/pressmark"), { recursive: true });
    expect(stdioConnection(file, here)).toMatchObject({ command: "npx", args: ["pressmark", "stdio"] });
    install("pressmark");
    expect(stdioConnection(file, here)).toMatchObject({ command: "pressmark", args: ["stdio"] });
  });

  it("names the folder where the host would not start it there", () => {
    expect(stdioConnection(fileOf("codex", "user"), here)).toMatchObject({ args: [here.program, "stdio", project] });
    expect(stdioConnection(fileOf("vscode", "project"), here)).toMatchObject({
      args: [here.program, "stdio", "${workspaceFolder}"],
    });
  });

  it("is found as a shell finds it", () => {
    install("tool");
    writeFileSync(join(root, "bin/text"), "not a program");
    expect(findProgram("tool", here.env)).toBe(join(root, "bin/tool"));
    expect(findProgram("text", here.env)).toBeUndefined();
    expect(findProgram("none", here.env)).toBeUndefined();
    expect(findProgram(join(root, "bin/tool"), {})).toBe(join(root, "bin/tool"));
  });

  it("is wrong if it leads elsewhere, with a reason", () => {
    install("pressmark");
    expect(wrongWith({ command: "pressmark", args: ["stdio", project] }, here)).toBeUndefined();
    expect(wrongWith({ command: "pressmark", args: ["stdio", "/no/such"] }, here)).toBe(
      'names "/no/such", which does not exist',
    );
    expect(wrongWith({ command: "pressmork" }, here)).toBe('starts "pressmork", which does not exist');
    expect(wrongWith({}, here)).toBe("has neither a url nor a command");
    for (const url of [
      "http://localhost:7357/mcp",
      "http://127.0.0.1:7357/mcp/",
      "http://127.0.0.1:7357/sse",
      "https://far.example/mcp",
    ])
      expect(wrongWith({ url }, here)).toBeUndefined();
    expect(wrongWith({ url: "http://127.0.0.1:1/mcp" }, here)).toBe(
      'points to "http://127.0.0.1:1/mcp", but pressmark serve listens at http://127.0.0.1:7357/mcp',
    );
  });
});
