/** A source that can be given credentials says when it uses them, so that nothing it serves is called public. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { SourceDefinition } from "../source.ts";
import { sources } from "./index.ts";

/** What each source cannot be opened without. */
const required: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  analysis: { url: "postgres://127.0.0.1/db" },
  config: { root: "/" },
  data: { root: "/" },
  docs: { root: "/" },
  file: { root: "/" },
  git: { root: "/" },
  mcp: { url: "https://mcp.example/mcp" },
  metrics: { url: "http://127.0.0.1:9090" },
  postgres: { url: "postgres://127.0.0.1/db" },
  redis: { url: "redis://127.0.0.1:6379" },
  skills: { root: "/" },
  sqlite: { file: "/db.sqlite" },
};

/** The options that people put a secret into. */
const secretName =
  /token|password|secret|accesskey|username|keyfile|credential|header|account|profile|^env$|^command$/i;

const definitions: SourceDefinition[] = [];
for (const load of Object.values(sources)) definitions.push((await load()).default as SourceDefinition);

function declared(definition: SourceDefinition): readonly string[] {
  const schema = z.toJSONSchema(definition.options(z), { io: "input", unrepresentable: "any" });
  return Object.keys(schema["properties"] ?? {});
}

const values: readonly unknown[] = ["value", "ada@example.com", ["value"], { name: "value" }, true];

describe.each(definitions.map((each) => [each.name, each] as const))("the source %s", (name, definition) => {
  const named = declared(definition).filter((option) => secretName.test(option));

  it("uses credentials as soon as it is given any", () => {
    for (const option of named) {
      const { url: _url, ...others } = required[name] ?? {};
      const first = option === "command" ? others : required[name];
      const parsed = values.map((value) => definition.options(z).safeParse({ ...first, [option]: value }));
      const taken = parsed.filter(({ success }) => success);
      expect(
        taken.length,
        `add what ${name} requires to "required" in credentials.test.ts; it takes no ${option}: ${String(parsed[0]?.error)}`,
      ).toBeGreaterThan(0);
      for (const { data } of taken)
        expect(definition.usesCredentials?.(data), `write usesCredentials: ${name} may use ${option}`).toBe(true);
    }
  });
});

it("finds the options that hold credentials", () => {
  const found = definitions.flatMap((each) =>
    declared(each)
      .filter((option) => secretName.test(option))
      .map((option) => `${each.name}.${option}`),
  );
  expect(found).toEqual(
    expect.arrayContaining([
      "gcs.keyFile",
      "gdrive.keyFile",
      "mcp.headers",
      "mcp.command",
      "metrics.token",
      "metrics.headers",
      "s3.secretAccessKey",
    ]),
  );
});

it.each([
  ["s3", {}, true],
  ["s3", { anonymous: true }, false],
  ["gcs", {}, true],
  ["gcs", { anonymous: true }, false],
  ["gdrive", {}, true],
  ["postgres", { url: "postgres://127.0.0.1/db" }, true],
  ["metrics", { url: "http://127.0.0.1:9090" }, false],
  ["metrics", { url: "http://user:password@127.0.0.1:9090" }, true],
  ["mcp", { url: "https://mcp.example/mcp" }, false],
  ["mcp", { url: "https://mcp.example/mcp?key=k" }, true],
  ["web", { hosts: ["docs.example"] }, false],
  ["web", { hosts: ["intranet"], allowAddresses: ["10.0.0.0/8"] }, true],
  ["web", { pages: ["https://docs.example/page?key=k"] }, true],
])("%s with %j uses credentials: %s", (name, given, expected) => {
  const definition = definitions.find((each) => each.name === name)!;
  expect(definition.usesCredentials?.(definition.options(z).parse(given))).toBe(expected);
});
