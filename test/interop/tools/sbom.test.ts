/** The list of components, judged by the project that defines its format. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importPeer, installPeers } from "../install-peers.ts";
import { createReleaseTree, type ReleaseTree } from "../../release/release-tree.ts";

/** The part of `@cyclonedx/cyclonedx-library` that is used here. */
interface Library {
  readonly Spec: { readonly Version: Readonly<Record<string, string>> };
  readonly Validation: {
    readonly JsonStrictValidator: new (version: string) => { validate(text: string): Promise<unknown> };
  };
}

const peers = {
  folder: "cyclonedx",
  packages: ["@cyclonedx/cyclonedx-library@10.3.0", "ajv@8.20.0", "ajv-formats@3.0.1", "ajv-formats-draft2019@1.6.1"],
};
const missing = installPeers(peers);

describe.skipIf(missing !== undefined)(`the files of a release${missing === undefined ? "" : ` (${missing})`}`, () => {
  let tree: ReleaseTree;
  beforeAll(() => {
    tree = createReleaseTree();
  });
  afterAll(() => tree[Symbol.dispose]());

  it("are a list of components that is valid, and a report of licences", async () => {
    const { Spec, Validation } = (await importPeer(peers, "@cyclonedx/cyclonedx-library")) as Library;
    const folder = join(tree.folder, "files");
    const { status, out } = tree.release("--files", folder);
    expect(status, out).toBe(0);
    const [sbom = "", licences = ""] = readdirSync(folder)
      .sort()
      .map((name) => readFileSync(join(folder, name), "utf8"));
    const validator = new Validation.JsonStrictValidator(Spec.Version["v1dot5"]!);
    expect(await validator.validate(sbom)).toBeNull();
    expect(await validator.validate(sbom.replace('"type": "library"', '"type": "book"'))).not.toBeNull();
    expect(licences).toMatch(/\| preact\s+\|.*\| bundled\s+\|/);
  });
});
