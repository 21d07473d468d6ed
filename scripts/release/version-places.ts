/** Where the version of the package is written. A release changes all of them. */
import { memberOf, type JsonNode, parseJsonText } from "../../src/lib/json-text.ts";

export interface VersionPlace {
  /** A file, which must have the version there; or all files with such names that have it. */
  readonly files: string | RegExp;
  /** Keys and indexes to a string in JSON. */
  readonly path?: readonly string[];
  /** Otherwise the texts before and after the version. */
  readonly around?: readonly [before: string, after: string];
}

const template = "create-pressmark-source/template/_package.json";
/** Manifests of bundles for hosts and editors. */
const bundles = /^(?:bundles|editors)\/.*\.json$/;

export const versionPlaces: readonly VersionPlace[] = [
  { files: "package.json", path: ["version"] },
  { files: "package-lock.json", path: ["version"] },
  { files: "package-lock.json", path: ["packages", "", "version"] },
  { files: "create-pressmark-source/package.json", path: ["version"] },
  { files: template, path: ["devDependencies", "pressmark"] },
  { files: template, path: ["peerDependencies", "pressmark"] },
  { files: bundles, path: ["version"] },
  // The lock file of an editor's extension.
  { files: bundles, path: ["packages", "", "version"] },
  // The package, in the registry's server.json.
  { files: bundles, path: ["packages", "0", "version"] },
  { files: "src/client/connect.ts", around: ['name: "pressmark", version: "', '"'] },
  { files: "src/picker/app-bridge.tsx", around: ['name: "pressmark-picker", version: "', '"'] },
  { files: "src/picker/entry.tsx", around: ['name: "pressmark-picker", version: "', '"'] },
  { files: "README.md", around: ["Pressmark ", " serves at"] },
  { files: /./, around: ["pressmark-", ".tgz"] },
  { files: /./, around: ["pressmark-", ".mcpb"] },
  { files: /./, around: ["pressmark-", ".vsix"] },
  { files: /./, around: ["pressmark@", ""] },
  { files: /./, around: ["pressmark:", ""] },
  { files: /^deploy\/kubernetes\//, around: ["newTag: ", ""] },
];

/** Files in which the same digits mean something else. */
const unrelated: readonly RegExp[] = [
  // The history.
  /^CHANGELOG\.md$/,
  /^docs\/decisions\//,
  /(?:^|\/)upgrading\.md$/,
  // Versions of other packages.
  /(?:^|\/)package-lock\.json$/,
  // A new package's own first version.
  /^create-pressmark-source\/template\/_package\.json$/,
  /\.test\.ts$|^test\//,
];

export function isRelated(file: string): boolean {
  return !unrelated.some((pattern) => pattern.test(file));
}

/** Throws if a file that a place names does not have the version there. */
export function replaceVersion(text: string, file: string, place: VersionPlace, from: string, to: string): string {
  const { files, path, around } = place;
  const replaced = around ? replaceText(text, around, from, to) : replaceJson(text, path ?? [], from, to);
  if (replaced === undefined && files === file)
    throw new Error(
      `${file} does not have ${from} ${around ? `after ${JSON.stringify(around[0])}` : `at ${path?.join(".")}`}`,
    );
  return replaced ?? text;
}

function replaceText(
  text: string,
  [before, after]: readonly [string, string],
  from: string,
  to: string,
): string | undefined {
  const [old, next] = [from, to].map((version) => before + version + after);
  return text.includes(old!) ? text.replaceAll(old!, () => next!) : undefined;
}

function replaceJson(text: string, path: readonly string[], from: string, to: string): string | undefined {
  const node = nodeAt(parseJsonText(text, { comments: true }), path);
  const literal = node === undefined ? "" : text.slice(node.start, node.end);
  if (node?.kind !== "scalar" || !literal.includes(from)) return undefined;
  return text.slice(0, node.start) + literal.replace(from, to) + text.slice(node.end);
}

function nodeAt(root: JsonNode, path: readonly string[]): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const key of path)
    node =
      node?.kind === "object"
        ? memberOf(node, key)?.value
        : node?.kind === "array"
          ? node.items[Number(key)]
          : undefined;
  return node;
}

/** Lines of a file that still contain the version, because no place names them: `README.md:12`. */
export function undeclared(file: string, text: string, version: string): readonly string[] {
  if (!isRelated(file)) return [];
  const token = new RegExp(`(?<![\\d.])${version.replaceAll(".", String.raw`\.`)}(?![\\d]|\\.\\d)`);
  return text.split("\n").flatMap((line, index) => (token.test(line) ? [`${file}:${index + 1}`] : []));
}
