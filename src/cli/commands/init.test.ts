/** The config that `init` writes serves at least what the folder serves without one, and nothing of this machine is in it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInstructions } from "../../server/instructions.ts";
import { openServer } from "../../server/open-server.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;

beforeEach(() => {
  stand = createStand();
});

afterEach(() => stand.remove());

function put(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function git(folder: string, ...words: readonly string[]): void {
  const author = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "init.defaultBranch=main"];
  execFileSync("git", ["-C", folder, ...author, ...words], { stdio: "ignore", env: { PATH: process.env["PATH"] } });
}

function repository(folder: string): string {
  git(put(folder, { "README.md": "# Read me", "設計/概要.md": "# 概要" }), "init");
  git(folder, "add", "-A");
  git(folder, "commit", "-m", "first");
  return folder;
}

const skill = "---\nname: press\ndescription: Press it\n---\nPress.\n";

/** Each creates a project below a folder and returns it. */
const shapes: Readonly<Record<string, (root: string) => string>> = {
  "a git repository": (root) => repository(join(root, "project")),
  "a repository with a Japanese name": (root) => repository(join(root, "日本語の資料")),
  "a folder of documents in two languages": (root) =>
    put(join(root, "project"), { "docs/ja/guide.md": "# 手引き", "docs/en/guide.md": "# Guide" }),
  "skills, also in a folder without any": (root) =>
    put(repository(join(root, "project")), {
      ".claude/skills/press/SKILL.md": skill,
      ".agents/skills/README.md": "none yet",
      "skills/ink/SKILL.md": skill.replaceAll("press", "ink"),
    }),
  "a folder named like a mount": (root) => put(repository(join(root, "files")), { "skills/press/SKILL.md": skill }),
  "files without git": (root) => put(join(root, "2026年度 計画"), { "計画.txt": "計画" }),
  "a folder below the top of a repository": (root) =>
    put(join(repository(join(root, "whole")), "part"), { "a.md": "# A" }),
  "a linked worktree": (root) => {
    git(repository(join(root, "whole")), "worktree", "add", join(root, "tree"));
    return join(root, "tree");
  },
  "a .git that is no repository": (root) => put(join(root, "project"), { ".git/HEAD": "", "a.md": "# A" }),
  "an empty folder": (root) => {
    mkdirSync(join(root, "project"));
    return join(root, "project");
  },
  "services and databases": (root) =>
    put(repository(join(root, "project")), {
      ".env": "DATABASE_URL=postgres://app:hunter2-hunter2@db.example.com/app\n",
      "compose.yaml": "services:\n  prometheus:\n    image: prom/prometheus\n    ports: ['9091:9090']\n",
    }),
};

describe("a written config", () => {
  it.each(Object.entries(shapes))("serves at least what no config serves: %s", async (_name, build) => {
    const project = build(stand.folder);
    const before = await served(project);
    const { code, err } = await stand.run(["init", "--yes"], { from: project });
    expect([code, err]).toEqual([0, ""]);
    const after = await served(project);
    expect(after.resources).toEqual(expect.arrayContaining(before.resources));
    expect(after.templates).toEqual(expect.arrayContaining(before.templates));
    for (const base of before.bases) expect(after.instructions).toContain(base.replace(/\/$/, ""));
    const written = readFileSync(join(project, "pressmark.config.yaml"), "utf8");
    expect(written).not.toContain(dirname(stand.folder));
    expect(written).not.toContain(import.meta.dirname.split("/src/")[0]);
    expect(written).not.toContain("hunter2");
  });
});

/** Everything that a client can list. */
async function served(project: string) {
  const server = await openServer({
    folders: [project],
    from: project,
    env: { HOME: stand.folder, XDG_STATE_HOME: join(dirname(stand.folder), "state") },
    err: { write: () => true },
  });
  try {
    const call = { caller: { id: "me", owner: true }, signal: AbortSignal.timeout(20_000) };
    const { items } = await server.resources.list({}, call);
    const { items: templates } = await server.resources.templates({}, call);
    const instructions = createInstructions({ pressmark: server, server: "pressmark", tools: ["read_resource"] });
    const said = instructions.of(call.caller);
    instructions.close();
    return {
      resources: items.map(({ uri }) => uri).filter((uri) => !uri.startsWith("pressmark:")),
      templates: templates.map(({ uriTemplate }) => uriTemplate),
      bases: server.mounts.map(({ base }) => base),
      instructions: said,
    };
  } finally {
    await server.close();
  }
}
