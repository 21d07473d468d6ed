/** A project in which the commands of the pages can be run: it has the files, refs, mounts and callers that they name. */
import { join } from "node:path";
import { pdf } from "../../src/backends/documents/test-documents.ts";
import { createStand, type Stand } from "../../src/cli/test-command.ts";
import { testRepository } from "../../src/sources/git/test-repository.ts";

const config = `mounts:
  files: { source: file, root: . }
  history: { source: git, root: . }
  notes: { source: git, root: ., search: false }
  project: { source: git, root: ., search: false }
callers:
  aki:
    groups: [support]
rules:
  - allow: [group:support]
server:
  audit: true
sets:
  onboarding:
    resources:
      - README.md
`;

const many = (line: (at: number) => string) => Array.from({ length: 60 }, (_, at) => `${line(at)}\n`).join("");

const files: Readonly<Record<string, string | Buffer>> = {
  "README.md": "# Notes\n\nThe connection was refused: retry with backoff.\n",
  "docs/setup.md": `# Setup\n\n${many((at) => `Step ${at}.`)}`,
  "docs/auth.md": "# The login flow\n\nA password is checked, then a token is made.\n",
  "docs/handbook.md": "# Handbook\n",
  "docs/network.md": '# Network\n\n"connection refused" means that nobody listens.\n',
  "docs/設定.md": "# 設定\n\nパスワードを再設定する方法。予算は別の文書にある。\n",
  "src/index.ts": `export function getUserName(): string {\n  return "ada";\n}\n${many((at) => `export const value${at} = ${at};`)}`,
  "src/upload.ts": "export const maxRetries = 3;\nexport const maxBytes = 10;\n",
  "src/検索.ts": "/** 検索の並び順を直す */\nexport const order = 1;\n",
  "古い.txt": Buffer.from([0x8c, 0xc3, 0x82, 0xa2, 0x0a]),
  "logo.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==",
    "base64",
  ),
  "report.pdf": pdf([["The budget of 2026"]]),
};

export interface ShellProject extends Disposable {
  /** Runs a command line of the pages, without the word "pressmark". */
  run(words: readonly string[]): ReturnType<Stand["run"]>;
}

/** Without a config if `isNew`. */
export async function createShellProject({ isNew }: { readonly isNew: boolean }): Promise<ShellProject> {
  const stand = createStand();
  const repository = testRepository([], stand.folder);
  repository.commit("begin", { ...files, ...(isNew ? {} : { "pressmark.config.yaml": config }) });
  repository.git("branch", "release");
  repository.git("checkout", "--quiet", "-b", "feature/x");
  repository.commit("retry more often", {
    "src/upload.ts": "export const maxRetries = 5;\nexport const maxBytes = 10;\n",
  });
  const other = join(stand.folder, "../other-project");
  testRepository([], other).commit("begin", {
    "pressmark.config.yaml": "mounts: { all: { source: file, root: .. } }\n",
  });

  /** The folder of the pages is that of the project. */
  const placed = (word: string) => word.replaceAll("file:///home/me/notes/", stand.base);
  if (!isNew) await stand.run(["trust", "--yes"]);
  return {
    run: (words) => stand.run(words.map(placed), { input: "" }),
    [Symbol.dispose]: () => stand.remove(),
  };
}
