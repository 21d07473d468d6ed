import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { textOf, visit } from "../visit.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const program = at("../../bin/pressmark.js");
const config = at("pressmark.config.yaml");
const client = await visit(program, "stdio", "--config", config);

// Both languages, each page under its own.
const { resources } = await client.listResources();
const uris = resources.map(({ uri }) => uri);
assert.ok(uris.includes("docs://pressmark/en/configuration.md"));
assert.ok(uris.includes("docs://pressmark/en/README.md"));
assert.ok(uris.includes("docs://pressmark/ja/README.md"));
const home = resources.find(({ uri }) => uri === "docs://pressmark/en/README.md");
assert.match(JSON.stringify(home?._meta), /"twins":\{"ja":"ja\/README\.md"\}/);

// A section of a page, as a model asks for it.
assert.match(await textOf(client, "docs://pressmark/en/configuration.md?heading=hosts"), /^## Hosts\n/);

await client.close();

// Search, in both languages; the command waits until the index is complete.
assert.match(pressmark("search", "unknown option did you mean"), /^.*en\/configuration\.md/m);
assert.match(pressmark("search", "検索"), /^.*ja\/README\.md/m);

// Every link and heading that the pages name exists.
const checks = JSON.parse(pressmark("doctor", "--json")) as readonly {
  readonly about: string;
  readonly says: string;
}[];
const ofMount = checks.filter(({ about }) => about === "mount pressmark").map(({ says }) => says);
assert.match(ofMount[0] ?? "", /listed, read and watched$/);
assert.deepEqual(
  ofMount.filter((says) => says.includes(" links to ")),
  [],
);
console.log("own-docs: all is as it should be");

function pressmark(...words: readonly string[]): string {
  return execFileSync(process.execPath, [program, ...words, "--config", config], { encoding: "utf8" });
}
