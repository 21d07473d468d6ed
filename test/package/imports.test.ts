/** Every subpath in a project that has installed none of the optional packages. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProject, type Project, subpaths } from "./project.ts";

let project: Project;
beforeAll(() => {
  project = createProject();
});
afterAll(() => project[Symbol.dispose]());

/** The picker is for browsers: it defines an element. */
const names = subpaths.filter((name) => name !== "pressmark/picker");

describe("without optional packages", () => {
  it("every subpath can be imported", () => {
    project.write(
      "program.js",
      `for (const name of ${JSON.stringify(names)})
         await import(name).catch(({ message }) => console.log(name + ": " + message));`,
    );
    expect(project.node("program.js")).toEqual({ status: 0, output: "" });
  });

  it("every subpath but the contracts, which choose a test runner first, can be loaded with require()", () => {
    const calls = names
      .filter((name) => name !== "pressmark/testing")
      .map((name) => `require(${JSON.stringify(name)});`);
    project.write("program.cjs", calls.join("\n"));
    expect(project.node("program.cjs")).toEqual({ status: 0, output: "" });
  });

  it.each([
    ["pressmark/client", `connect("http://127.0.0.1:9/mcp")`],
    ["pressmark/client", `connectBy(() => { throw new Error("unused"); })`],
    ["pressmark/client/stdio", `connectProgram({ command: "unused" })`],
  ])("%s names the package that it needs: %s", (name, call) => {
    project.write(
      "program.js",
      `import * as client from "${name}"; await client.${call}.catch((error) => console.log(error.kind, error.message));`,
    );
    expect(project.node("program.js").output).toBe(
      `unsupported pressmark/client needs the package "@modelcontextprotocol/client"; run in the project: npm install @modelcontextprotocol/client\n`,
    );
  });

  it("pressmark/source loads nothing of the server", () => {
    const dist = join(project.folder, "node_modules/pressmark/dist");
    const loaded = new Set([join(dist, "source-kit.js")]);
    for (const file of loaded)
      for (const [, module = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*"(\.[^"]+)"/g))
        loaded.add(join(dirname(file), module));
    const sizes = [...loaded].map((file) => statSync(file).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(80_000);
  });
});
