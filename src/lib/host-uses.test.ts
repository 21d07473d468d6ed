import { describe, expect, it } from "vitest";
import { type HostUse, type HostUsesOptions, useIds, usesOf } from "./host-uses.ts";

const [plan, notes] = ["file:///docs/plan.md", "file:///docs/notes%20(old).md"];

function use(id: string, options: Partial<HostUsesOptions> = {}) {
  return usesOf({ chosen: [{ uri: plan }, { uri: notes }], ...options }).find((each) => each.id === id);
}

function problemOf(chosen: HostUsesOptions["chosen"]): string | undefined {
  return use("gemini-mentions", { chosen })?.problem;
}

function isOneOf({ text, link, form }: HostUse): boolean {
  return [text, link, form].filter((each) => each !== undefined).length === 1;
}

describe("ways to use a choice in a host", () => {
  it("mention each resource on one line, under the configured name of the server", () => {
    expect(use("claude-code-mentions")).toMatchObject({
      group: "Claude Code",
      problem: undefined,
      text: `@pressmark:${plan} @pressmark:${notes}`,
    });
    expect(use("claude-code-mentions", { server: "docs" })?.text).toBe(`@docs:${plan} @docs:${notes}`);
    expect(use("gemini-mentions")?.text).toBe(
      String.raw`@pressmark:${plan} @pressmark:file:///docs/notes%20\(old\).md`,
    );
  });

  it("say why a choice cannot be mentioned", () => {
    expect(problemOf([{ uri: plan }, { uri: `${plan}?lines=3-5` }])).toMatch(/^Lines cannot be mentioned/);
    expect(problemOf([{ uri: "file:///docs", isFolder: true }])).toMatch(/^A folder cannot be mentioned/);
    expect(problemOf([{ uri: "git://app/commit/1", isUnlisted: true }])).toMatch(/^Only what the server lists/);
    expect(problemOf([{ uri: "file:///docs/a)" }])).toMatch(/^A URI that does not end/);
  });

  it("paste no control characters of a URI", () => {
    const uses = usesOf({ chosen: [{ uri: "x:a\u001B[201~\rrm -rf\u202Ez" }] });
    for (const { text } of uses) expect(text ?? "").not.toMatch(/[^\P{C}\n]/u);
    expect(uses.find(({ id }) => id === "claude-code-mentions")?.text).toBe(
      "@pressmark:x:a%1B[201~%0Drm%20-rf%E2%80%AEz",
    );
  });

  it("request to read lines, too", () => {
    const options = { chosen: [{ uri: `${plan}?lines=3-5` }], server: "docs" };
    expect(use("agents-request", options)?.text).toBe(
      `Read these resources of the MCP server "docs" with its tool read_resource:\n- ${plan}?lines=3-5\n`,
    );
    expect(use("agents-request", { ...options, language: "ja" })?.text).toBe(
      `MCPサーバー「docs」の read_resource で次のリソースを読んでください：\n- ${plan}?lines=3-5\n`,
    );
  });

  it("open VS Code and Cursor with the same request, unless it is too long for a link", () => {
    const chosen = [{ uri: "file:///%E6%9C%AC%20&+/plan%23.md?lines=3-5" }];
    const request = use("agents-request", { chosen })?.text;
    const [code, cursor] = ["vscode-open", "cursor-open"].map((id) => new URL(use(id, { chosen })!.link!));
    expect(code!.href).toMatch(/^vscode:\/\/github\.copilot-chat\?agent=agent&/i);
    // VS Code decodes all of the query before it looks for parameters.
    const decoded = new URLSearchParams(decodeURIComponent(code!.search));
    expect([decoded.get("agent"), decoded.get("prompt")]).toEqual(["agent", request]);
    expect(cursor!.href).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/prompt\?/);
    expect(cursor!.searchParams.get("text")).toBe(request);
    const many = Array.from({ length: 60 }, (_, index) => ({ uri: `file:///docs/${index}.md` }));
    expect(use("cursor-open", { chosen: many })?.problem).toMatch(/^Too much for a link/);
    expect(use("cursor-open", { chosen: many.slice(0, 20) })?.problem).toBeUndefined();
  });

  it("begin with any chat, and end each group with those that do not work", () => {
    const ids = usesOf({ chosen: [{ uri: `${plan}?lines=3-5` }], prompt: "lines" }).map(({ id }) => id);
    expect(ids.slice(0, 6)).toEqual([
      "markdown",
      "xml",
      "uris",
      "claude-code-request",
      "claude-code-command",
      "claude-code-mentions",
    ]);
    const unlisted = usesOf({ chosen: [{ uri: plan, isUnlisted: true }] });
    expect(unlisted[3]).toMatchObject({ id: "claude-code-mentions", problem: expect.stringMatching(/^Only what/) });
  });

  it("name the hosts that must be connected, and no host twice", () => {
    const groups = Map.groupBy(usesOf({ chosen: [{ uri: plan }] }), ({ group }) => group);
    expect([...groups.keys()]).toEqual([
      "Any chat",
      "Claude Code",
      "Gemini CLI",
      "VS Code",
      "Cursor",
      "Codex and others",
      "Save to a file",
    ]);
    expect(use("claude-code-mentions")?.hosts).toEqual(["Claude Code"]);
    expect(use("cursor-open")?.hosts).toEqual(["Cursor"]);
    expect(use("agents-request")?.hosts).toContain("Codex");
    expect(use("markdown")?.hosts).toBeUndefined();
  });

  it("have commands only for a saved set", () => {
    expect(use("claude-code-command")).toBeUndefined();
    expect(use("claude-code-command", { prompt: "a\rb" })).toBeUndefined();
    const commands = ["claude-code-command", "vscode-command", "gemini-command"].map(
      (id) => use(id, { server: "docs", prompt: "onboarding" })?.text,
    );
    expect(commands).toEqual(["/mcp__docs__onboarding", "/mcp.docs.onboarding", "/onboarding"]);
  });

  it("are the declared ones, each with one of a text, a link and a form, and a sentence in both languages", () => {
    for (const language of ["en", "ja"] as const) {
      const uses = usesOf({ chosen: [{ uri: plan }], prompt: "onboarding", language });
      expect(uses.map(({ id }) => id)).toEqual(useIds);
      expect(uses.filter((each) => !isOneOf(each) || !each.next)).toEqual([]);
    }
  });
});
