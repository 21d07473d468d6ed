import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { packedFile } from "../package/project.ts";
import { serverSchema } from "./server-schema.ts";
import { expectServes } from "./visit-server.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const json = <T>(path: string): T => JSON.parse(read(path)) as T;
const own = json<{ readonly version: string; readonly mcpName: string }>("package.json");

/** Manifests with a key "version". */
const versioned = [
  "bundles/registry/server.json",
  "bundles/mcpb/manifest.json",
  "bundles/plugin/.claude-plugin/plugin.json",
  "bundles/plugin/gemini-extension.json",
  "editors/vscode/package.json",
  "editors/vscode/package-lock.json",
];

describe("the version of the package", () => {
  it.each(versioned)("is the version of %s", (path) => {
    expect(json<typeof own>(path).version).toBe(own.version);
  });

  it("is the only one that bundles name", () => {
    const files = ["bundles", "editors/vscode"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:json|md|toml|ts)$/.test(name) && !/(?:^|\/)(?:node_modules|dist)\//.test(name))
        .map((name) => join(folder, name)),
    );
    const pattern = /pressmark[@-](\d+\.\d+\.\d+[-.\w]*?)(?=["`\s:]|\.(?:mcpb|vsix|tgz))/g;
    const named = [...files, "docs/bundles.md"].flatMap((file) =>
      [...read(file).matchAll(pattern)].map(([, version]) => `${file}: ${version}`),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((each) => !each.endsWith(`: ${own.version}`))).toEqual([]);
  });
});

describe("server.json", () => {
  const path = "bundles/registry/server.json";
  const ajv = new Ajv({ strict: true, allErrors: true, strictRequired: false });
  formats.default(ajv);
  const validate = ajv.compile(serverSchema);
  const ours = json<ServerJson>(path);

  it("follows the rules of its schema", () => {
    validate(ours);
    expect(validate.errors).toBeNull();
  });

  it.each([
    ["a description that is too long", { description: "a".repeat(101) }],
    ["a name without a namespace", { name: "pressmark" }],
    ["a range of versions", { version: "^0.1.0" }],
    ["a misspelt key", { packges: [] }],
    [
      "an argument without a value",
      { packages: [{ ...ours.packages[0], packageArguments: [{ type: "positional" }] }] },
    ],
  ])("would not pass with %s", (_, change) => {
    expect(validate({ ...ours, ...change })).toBe(false);
  });

  it("has the name by which the registry recognizes the package", () => {
    expect(own.mcpName).toBe(ours.name);
  });

  it("names the version of the package", () => {
    expect(ours.packages.map(({ version }) => version)).toEqual([own.version]);
  });

  it("has arguments that start a server for a folder", () =>
    expectServes((folder) => ({
      command: process.execPath,
      args: [join(root, "bin/pressmark.js"), ...ours.packages[0]!.packageArguments.map(({ value }) => value ?? folder)],
    })));
});

interface ServerJson {
  readonly name: string;
  readonly packages: readonly {
    readonly version: string;
    readonly packageArguments: readonly { readonly value?: string }[];
  }[];
}

describe("the plugin", () => {
  it("starts the same server in every host", () => {
    const servers = ["bundles/plugin/.mcp.json", "bundles/plugin/gemini-extension.json"].map(
      (path) => json<{ readonly mcpServers: object }>(path).mcpServers,
    );
    expect(servers[0]).toEqual(servers[1]);
  });

  it("has the same commands for Claude Code and Gemini CLI", () => {
    const folder = "bundles/plugin/commands";
    expect(names(`${folder}/pressmark`, ".toml")).toEqual(names(folder, ".md"));
    for (const name of names(folder, ".md")) {
      const [, head, body] = /^---\n(.*?)\n---\n\n(.*)$/s.exec(read(`${folder}/${name}.md`))!;
      const description = /^description: (.*)$/m.exec(head!)?.[1];
      expect(read(`${folder}/pressmark/${name}.toml`)).toBe(
        `description = ${JSON.stringify(description)}\nprompt = """\n${body!.replaceAll("$ARGUMENTS", "{{args}}")}"""\n`,
      );
    }
  });
});

it("packs no bundles and no editor extensions", () => {
  const files = execFileSync("tar", ["-tzf", packedFile()], { encoding: "utf8" });
  expect(files).not.toMatch(/^package\/(?:bundles|editors|\.claude-plugin|dist-bundles)\//m);
});

/** Names of the files with this ending, without it. */
function names(path: string, end: string): readonly string[] {
  return readdirSync(join(root, path))
    .filter((name) => name.endsWith(end))
    .map((name) => name.slice(0, -end.length))
    .sort();
}
