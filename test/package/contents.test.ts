/** What the packed package contains: links that lead somewhere, and metadata that agree with each other. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProject, type Project } from "./project.ts";

const root = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly repository: { readonly url: string };
  readonly homepage: string;
  readonly bugs: string;
  readonly mcpName: string;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, "");

let project: Project;
let folder: string;
beforeAll(() => {
  project = createProject();
  folder = join(project.folder, "node_modules/pressmark");
});
afterAll(() => project[Symbol.dispose]());

describe("the packed Markdown files", () => {
  it("link to files of the package, or to https addresses", () => {
    const dead = packedLinks().filter(
      ({ file, target }) =>
        !target.startsWith("https://") && !isExampleAddress(target) && !existsSync(join(folder, dirname(file), target)),
    );
    expect(dead, "ship the file, link to a page that is shipped, or link to the repository").toEqual([]);
  });

  it("link to files of the repository that are there", () => {
    const linked = packedLinks().filter(({ target }) => target.startsWith(`${repository}/`));
    expect(linked.length).toBeGreaterThan(0);
    for (const { file, target } of linked) {
      const path = /^\/(?:blob|tree)\/main\/(.+)$/.exec(target.slice(repository.length))?.[1];
      expect(path !== undefined && existsSync(join(root, path)), `${file}: ${target}`).toBe(true);
    }
  });
});

describe("package.json", () => {
  it("names one repository everywhere, whose owner also owns the name in the MCP registry", () => {
    const owner = /^https:\/\/github\.com\/([^/]+)\//.exec(`${repository}/`)?.[1];
    expect(manifest).toMatchObject({
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
      mcpName: `io.github.${owner}/pressmark`,
    });
  });

  it("allows or denies every install script, so that npm ci neither warns nor asks", () => {
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    const withScripts = Object.keys(lock.packages)
      .filter((path) => lock.packages[path]!.hasInstallScript)
      .map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...new Set(withScripts)].sort());
  });
});

interface Link {
  readonly file: string;
  /** Without the fragment. */
  readonly target: string;
}

/** All links and pictures outside of code. Links within a page are not among them. */
function packedLinks(): readonly Link[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  return files.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8")
      .replaceAll(/^( *)(`{3,}|~{3,})[^]*?^\1\2/gm, "")
      .replaceAll(/(`+)[^`]+\1/g, "");
    const targets = [
      ...text.matchAll(/\]\(\s*<?([^)>\s]+)/g),
      ...text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?$/gm),
      ...text.matchAll(/<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)="([^"]+)"/g),
    ].map(([, target = ""]) => decodeURI(target.replace(/#.*/, "")));
    return targets.filter((target) => target !== "").map((target) => ({ file, target }));
  });
}

/** Addresses that exist only while someone's own server runs. */
function isExampleAddress(target: string): boolean {
  return /^http:\/\/(?:127\.0\.0\.1|localhost)\b/.test(target);
}
