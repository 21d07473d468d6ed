import { describe, expect, it } from "vitest";
import { createRules } from "./rules.ts";

describe("built-in rules", () => {
  const judge = createRules([]);

  it.each([
    ["AGENTS.md", 1, "assistant", "constitution"],
    ["CLAUDE.md", 1, "assistant", "constitution"],
    ["memory/constitution.md", 1, "assistant", "constitution"],
    ["ops/runbooks/db.md", 1, "assistant", "constitution"],
    ["ops/db-runbook.ja.md", 1, "assistant", "constitution"],
    ["運用/障害対応手順書.md", 1, "assistant", "constitution"],
    ["README.md", 0.8, "user assistant", "readme"],
    ["onboarding/first-day.md", 0.8, "user assistant", "readme"],
    ["はじめに.md", 0.8, "user assistant", "readme"],
    ["ARCHITECTURE.md", 0.7, "assistant", "architecture"],
    ["decisions/001-x.md", 0.7, "assistant", "architecture"],
    ["api/v1/users.md", 0.7, "assistant", "architecture"],
    ["SECURITY.md", 0.7, "assistant", "architecture"],
    ["基本設計.md", 0.7, "assistant", "architecture"],
    ["guides/deploy.md", 0.5, "user assistant", "guide"],
    ["user-guide.md", 0.5, "user assistant", "guide"],
    ["利用ガイド.md", 0.5, "user assistant", "guide"],
    ["proposals/x.md", 0.3, "user", "proposal"],
    ["brochure.PDF", 0.3, "user", "proposal"],
    ["user-guide.pdf", 0.3, "user", "proposal"],
    ["legacy/x.md", 0.1, "user", "archive"],
    ["legacy/AGENTS.md", 0.1, "user", "archive"],
    ["legacy/readme.ja.md", 0.1, "user", "archive"],
    ["archive/設計/基本設計.md", 0.1, "user", "archive"],
    ["旧仕様書.txt", 0.1, "user", "archive"],
    ["docs/oldSpecs/design.md", 0.1, "user", "archive"],
    ["復旧手順書.md", 1, "assistant", "constitution"],
    ["新旧対照表/仕様.md", 0.7, "assistant", "architecture"],
    ["legacy-migration-guide.md", 0.5, "user assistant", "guide"],
    ["notes.md", 0.5, "user assistant", "default"],
    ["told.md", 0.5, "user assistant", "default"],
  ])("%s matters %d, to %s (%s)", (path, priority, audience, rule) => {
    expect(judge(path)).toMatchObject({ rule, priority, audience: audience.split(" ") });
  });
});

describe("configured rules", () => {
  it("come first, in their order, and accept patterns", () => {
    const judge = createRules([
      { match: ["release-notes/**", "CHANGELOG*"], priority: 0.2, audience: ["user"] },
      { match: "README.md", priority: 0.9 },
      { match: "/draft/**", priority: 0 },
      { match: "archive/policy.md", priority: 0.6 },
    ]);
    expect(judge("archive/policy.md")).toMatchObject({ rule: "archive/policy.md", priority: 0.6 });
    expect(judge("release-notes/AGENTS.md")).toMatchObject({
      rule: "release-notes/**",
      priority: 0.2,
      audience: ["user"],
    });
    expect(judge("a/changelog.md")).toMatchObject({ rule: "CHANGELOG*", priority: 0.2 });
    expect(judge("deep/readme.MD")).toMatchObject({
      rule: "README.md",
      priority: 0.9,
      audience: ["user", "assistant"],
    });
    expect(judge("draft/x.md").priority).toBe(0);
    expect(judge("a/draft/x.md").rule).toBe("default");
  });

  it("that are invalid are rejected with a message", () => {
    expect(() => createRules([{ match: `${"{a,".repeat(30)}b${"}".repeat(30)}` }])).toThrow(/the rule .* is invalid/);
  });
});
