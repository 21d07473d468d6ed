/** The checker itself: it must let good messages pass and name what is wrong with bad ones. */
import { describe, expect, it } from "vitest";
import { removals } from "./2024-11-05/schema.ts";
import { checkMessage, problemsWith } from "./check-message.ts";
import { schemasIn } from "./official-schemas.ts";
import { revisions, type Revision } from "./schemas.ts";

const legacy = revisions.filter((revision) => revision !== "2026-07-28");
const answer = (result: unknown): unknown => ({ jsonrpc: "2.0", id: 1, result });
const failure = (code: number, data?: unknown): unknown => ({
  jsonrpc: "2.0",
  id: 1,
  error: { code, message: "no", ...(data !== undefined && { data }) },
});
const listed = (resource: object, extra: object = {}): unknown =>
  answer({ resources: [{ uri: "memory://a/b", name: "b", ...resource }], ...extra });
const opened = (protocolVersion: string): unknown =>
  answer({ protocolVersion, capabilities: { completions: {} }, serverInfo: { name: "a", version: "1" } });
const fresh = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

describe("a good message passes", () => {
  it.for(legacy)("in %s", (revision) => {
    checkMessage(revision, listed({ description: "B", mimeType: "text/plain" }, { nextCursor: "c" }), "resources/list");
    checkMessage(revision, answer({ contents: [{ uri: "memory://a/b", text: "" }] }), "resources/read");
    checkMessage(revision, answer({ contents: [{ uri: "memory://a/b", blob: "AAE=" }] }), "resources/read");
    checkMessage(revision, answer({}), "resources/subscribe");
    checkMessage(revision, answer({}), "ping");
    checkMessage(revision, failure(-32002, { uri: "memory://a/x" }), "resources/read");
    checkMessage(revision, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "no JSON" } });
    checkMessage(revision, {
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "memory://a/b" },
    });
    checkMessage(revision, { jsonrpc: "2.0", method: "notifications/resources/list_changed" });
    if (revision === "2024-10-07") return;
    checkMessage(revision, answer({ completion: { values: ["a"], total: 1, hasMore: false } }), "completion/complete");
  });

  it("in 2026-07-28", () => {
    const revision = "2026-07-28";
    const tag = { "io.modelcontextprotocol/subscriptionId": 9 };
    checkMessage(revision, listed({ icons: [{ src: "https://example.com/i.png" }] }, fresh), "resources/list");
    checkMessage(revision, answer({ ...fresh, resources: [] }), "resources/directory/read");
    checkMessage(revision, answer({ resultType: "complete", _meta: tag }), "subscriptions/listen");
    checkMessage(revision, failure(-32022, { supported: ["2026-07-28"], requested: "1900-01-01" }));
    checkMessage(revision, {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: tag, notifications: { resourceSubscriptions: ["memory://a/b"] } },
    });
    checkMessage(
      revision,
      answer({ supportedVersions: ["2026-07-28"], capabilities: { resources: {} }, ...fresh }),
      "server/discover",
    );
    checkMessage(
      revision,
      answer({
        ...fresh,
        skills: [
          {
            uri: "skill://a/b/SKILL.md",
            frontmatter: { name: "b", description: "B", license: "MIT" },
            resources: [{ uri: "skill://a/b/SKILL.md", digest: `sha256:${"0".repeat(64)}`, size: 3 }],
          },
        ],
      }),
      "skills/list",
    );
  });
});

describe("a field is refused before the revision that brought it", () => {
  const since: readonly (readonly [field: string, resource: object, first: Revision])[] = [
    ["size", { size: 1 }, "2024-11-05"],
    ["annotations", { annotations: { priority: 1 } }, "2024-11-05"],
    ["title", { title: "B" }, "2025-06-18"],
    ["_meta", { _meta: { a: 1 } }, "2025-06-18"],
    ["lastModified", { annotations: { lastModified: "2025-01-01T00:00:00Z" } }, "2025-06-18"],
    ["icons", { icons: [{ src: "https://example.com/i.png" }] }, "2025-11-25"],
  ];
  it.for(since)("%s", ([, resource, first]) => {
    for (const revision of revisions) {
      const message = listed(resource, revision === "2026-07-28" ? fresh : {});
      const problems = problemsWith(revision, message, "resources/list");
      if (revision >= first) expect(problems).toEqual([]);
      else expect(problems.join()).toContain("must NOT have additional properties");
    }
  });

  it.for(legacy)("cache hints, resultType and the server's name in %s", (revision) => {
    for (const extra of [{ ttlMs: 1 }, { cacheScope: "public" }, { resultType: "complete" }])
      expect(problemsWith(revision, listed({}, extra), "resources/list")).not.toEqual([]);
    expect(problemsWith(revision, answer({ resultType: "complete" }), "ping")).not.toEqual([]);
    const named = { _meta: { "io.modelcontextprotocol/serverInfo": { name: "a", version: "1" } } };
    expect(problemsWith(revision, listed({}, named), "resources/list")).not.toEqual([]);
  });

  it("completions among the capabilities", () => {
    expect(problemsWith("2025-03-26", opened("2025-03-26"), "initialize")).toEqual([]);
    expect(problemsWith("2024-11-05", opened("2024-11-05"), "initialize")).not.toEqual([]);
    expect(problemsWith("2024-10-07", opened("2024-10-07"), "initialize")).not.toEqual([]);
  });

  it("the title of a template, and contents that say more than they are", () => {
    const templates = answer({ resourceTemplates: [{ uriTemplate: "memory://a/{b}", name: "b", title: "B" }] });
    expect(problemsWith("2025-03-26", templates, "resources/templates/list")).not.toEqual([]);
    expect(problemsWith("2025-06-18", templates, "resources/templates/list")).toEqual([]);
    const contents = answer({ contents: [{ uri: "memory://a/b", text: "", name: "b" }] });
    for (const revision of legacy) expect(problemsWith(revision, contents, "resources/read")).not.toEqual([]);
  });
});

describe("a bad message is refused", () => {
  it("without what its revision requires", () => {
    expect(problemsWith("2026-07-28", listed({}), "resources/list")).not.toEqual([]);
    expect(problemsWith("2025-11-25", answer({ resources: [{ name: "b" }] }), "resources/list")).not.toEqual([]);
    expect(problemsWith("2026-07-28", answer({ resultType: "complete" }), "subscriptions/listen")).not.toEqual([]);
  });

  it("with a URI that is none, or base64 that is none", () => {
    expect(problemsWith("2025-11-25", listed({ uri: "memory://a/日本" }), "resources/list")).not.toEqual([]);
    const blob = answer({ contents: [{ uri: "memory://a/b", blob: "not base64!" }] });
    for (const revision of revisions) expect(problemsWith(revision, blob, "resources/read")).not.toEqual([]);
  });

  it("with a code, a method or a question that is not its revision's", () => {
    expect(problemsWith("2026-07-28", failure(-32002))).not.toEqual([]);
    expect(problemsWith("2026-07-28", failure(-32042))).not.toEqual([]);
    expect(problemsWith("2026-07-28", failure(-32022))).not.toEqual([]);
    expect(problemsWith("2025-11-25", failure(-32022))).not.toEqual([]);
    expect(problemsWith("2026-07-28", answer({ resultType: "complete" }), "resources/subscribe")).not.toEqual([]);
    expect(problemsWith("2025-11-25", { jsonrpc: "2.0", id: 1, method: "ping" })).not.toEqual([]);
    expect(
      problemsWith("2025-11-25", { jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged" }),
    ).not.toEqual([]);
    expect(problemsWith("2025-11-25", answer({}))).not.toEqual([]);
  });

  it("with an envelope that is none", () => {
    expect(problemsWith("2025-11-25", { id: 1, result: {} }, "ping")).not.toEqual([]);
    expect(problemsWith("2025-11-25", { jsonrpc: "2.0", id: null, result: {} }, "ping")).not.toEqual([]);
    expect(problemsWith("2025-11-25", [], "ping")).not.toEqual([]);
    expect(problemsWith("2025-11-25", { jsonrpc: "2.0", id: 1, result: {}, more: 1 }, "ping")).not.toEqual([]);
  });
});

describe("the schemas", () => {
  it("of 2024-11-05 lack what came later, each for a reason", () => {
    expect(removals.every(({ reason }) => reason.length > 20)).toBe(true);
    const progress = {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1, message: "half" },
    };
    expect(problemsWith("2025-03-26", progress)).toEqual([]);
    expect(problemsWith("2024-11-05", progress)).not.toEqual([]);
    const audio = answer({ content: [{ type: "audio", data: "AA==", mimeType: "audio/wav" }] });
    expect(problemsWith("2025-03-26", audio, "tools/call")).toEqual([]);
    expect(problemsWith("2024-11-05", audio, "tools/call")).not.toEqual([]);
  });

  it("are read from literals, and nothing of the bundle runs", () => {
    const bundle = `const a={type:\`object\`,n:-1,b:!0};const k="2026-07-28";const t={"2025-03-26":a,[k]:a};throw new Error("ran");`;
    const expected = { type: "object", n: -1, b: true };
    expect([...schemasIn(bundle)]).toEqual([
      ["2025-03-26", expected],
      ["2026-07-28", expected],
    ]);
    expect(() => schemasIn(`const a=f();const t={"2025-03-26":a};`)).toThrow("a schema holds a CallExpression");
    expect(() => schemasIn("const a=1;")).toThrow("no longer carries");
  });
});
