/** The published types, as a program sees them that has installed the package and none of its optional packages. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, packedFile, subpaths } from "./project.ts";

/** Their types name those of the official client, which they need. */
const ofClient = ["pressmark/client", "pressmark/client/stdio"];
/** For browsers. */
const withDom = ["pressmark/picker"];
const onServer = subpaths.filter((name) => !ofClient.includes(name) && !withDom.includes(name));

const server = { strict: true, skipLibCheck: false, types: ["node"], target: "es2022", lib: ["es2022"] };
const nodenext = { ...server, module: "nodenext" };
const bundler = { ...server, module: "esnext", moduleResolution: "bundler" };

describe.each([
  ["nodenext", nodenext],
  ["bundler", bundler],
])("the published types, under %s", (_, options) => {
  it("need no optional package", () => {
    using project = createProject("@types/node");
    project.write("program.ts", importing(onServer));
    expect(project.typeErrors(options)).toBe("");
  });

  it("of the picker need nothing of Node", () => {
    using project = createProject();
    project.write("program.ts", importing(withDom));
    expect(project.typeErrors({ ...options, types: [], lib: ["es2022", "dom"] })).toBe("");
  });
});

// Once only: checking the types of the official client takes seconds.
it("the published types of the client need the official client only", () => {
  using project = createProject("@types/node", "@modelcontextprotocol/client");
  project.write("program.ts", importing(ofClient));
  expect(project.typeErrors(nodenext)).toBe("");
});

// ESM only: Node 22.18 loads the modules with require() as well, and a resolution that does not know "exports" (node10) finds no subpath.
it("@arethetypeswrong/cli finds nothing wrong with any subpath", () => {
  const attw = join(import.meta.dirname, "../../node_modules/@arethetypeswrong/cli/dist/index.js");
  const entryPoints = subpaths.map((name) => name.replace(/^pressmark\/?/, "") || ".");
  const options = ["--profile", "esm-only", "--no-definitely-typed", "--format", "ascii", "--no-emoji", "--no-color"];
  const { status, stdout } = spawnSync(
    process.execPath,
    [attw, packedFile(), ...options, "--entrypoints", ...entryPoints],
    {
      encoding: "utf8",
    },
  );
  expect(status, stdout).toBe(0);
});

function importing(names: readonly string[]): string {
  const imports = names.map((name, index) => `import * as module${index} from ${JSON.stringify(name)};`);
  return [...imports, `export default [${names.map((_, index) => `module${index}`).join(", ")}];`].join("\n");
}
