#!/usr/bin/env node
// `npm create pressmark-source my-backend`: writes a package with a source, from the folder `template`.
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";

const help = `Usage: npm create pressmark-source [name] [-- --yes]

  name   Name of the source: my-backend, or @acme/my-backend
  --yes  Do not ask; without a name, use my-backend
`;
const prefix = "pressmark-source-";
const exampleName = "my-backend";
const template = join(dirname(fileURLToPath(import.meta.url)), "template");
/** Names of built-in sources and reserved schemes, which Pressmark refuses. */
const takenNames =
  "about analysis blob config data docs file gcs gdrive git http https javascript mailto mcp memory metrics postgres pressmark redis s3 set sets skill skills sqlite ui urn web ws wss zed".split(
    " ",
  );
/** npm leaves files with these names out of a package, or takes them for its own. */
const packedNames = new Map([
  ["_gitignore", ".gitignore"],
  ["_package.json", "package.json"],
]);

try {
  await run(process.argv.slice(2));
} catch (cause) {
  process.stderr.write(`create-pressmark-source: ${cause instanceof Error ? cause.message : cause}\n`);
  process.exitCode = 1;
}

async function run(words) {
  const flags = words.filter((word) => word.startsWith("-"));
  const names = words.filter((word) => !word.startsWith("-"));
  if (flags.some((flag) => flag === "--help" || flag === "-h")) return void process.stdout.write(help);
  const unknown = flags.find((flag) => flag !== "--yes" && flag !== "-y");
  if (unknown !== undefined) throw new Error(`unknown option ${JSON.stringify(unknown)}; see --help`);
  if (names.length > 1) throw new Error(`one name is enough, not ${names.length}; see --help`);
  const named = toNames(names[0] ?? (await askForName(flags.length > 0)));
  write(named);
  process.stdout.write(`${named.folder} is ready. Next:

  cd ${named.folder}
  npm install
  npm test

Then read README.md there.
`);
}

async function askForName(isYes) {
  if (isYes) return exampleName;
  if (!process.stdin.isTTY) throw new Error(`name the source: npm create pressmark-source ${exampleName}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Name of the source (${exampleName}): `);
  terminal.close();
  return answer.trim() || exampleName;
}

/** `@acme/my-backend` → the source `my-backend` in the package `@acme/pressmark-source-my-backend`. */
function toNames(text) {
  const isScoped = text.startsWith("@");
  const [scope, own, ...more] = isScoped ? text.split("/") : ["", text];
  const source = (own ?? "").startsWith(prefix) ? own.slice(prefix.length) : (own ?? "");
  // It becomes the scheme of URIs, and the name of a folder.
  const isValid = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(source) && source.length <= 64;
  const isScope = !isScoped || (/^@[a-z0-9][a-z0-9-]*$/.test(scope) && scope.length <= 64);
  if (!isValid || !isScope || more.length > 0)
    throw new Error(
      `${JSON.stringify(text.slice(0, 80))} is not a valid name; use lowercase letters, digits and single dashes, beginning with a letter, such as ${exampleName} or @acme/${exampleName}`,
    );
  if (takenNames.includes(source))
    throw new Error(
      `${JSON.stringify(source)} is the name of a built-in source or a reserved scheme; use another, such as ${source}-notes`,
    );
  const folder = prefix + source;
  return { source, folder, package: isScoped ? `${scope}/${folder}` : folder };
}

function write({ source, folder, package: packageName }) {
  const there = lstatSync(folder, { throwIfNoEntry: false });
  // A link could lead anywhere.
  if (there && !there.isDirectory())
    throw new Error(`${folder} exists and is not a folder; remove it or choose another name`);
  if (there && readdirSync(folder).length > 0)
    throw new Error(`${folder} exists and is not empty; remove it or choose another name`);
  for (const file of filesBelow(template)) {
    const target = join(folder, packedNames.get(file) ?? file);
    // In one pass: the new names may contain the old one.
    const text = readFileSync(join(template, file), "utf8").replaceAll(
      new RegExp(`(${prefix})?${exampleName}`, "g"),
      (_, isPackage) => (isPackage ? packageName : source),
    );
    mkdirSync(dirname(target), { recursive: true });
    // Never over a file that has appeared meanwhile.
    writeFileSync(target, text, { flag: "wx" });
  }
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((file) => join(entry.name, file)) : [entry.name],
  );
}
