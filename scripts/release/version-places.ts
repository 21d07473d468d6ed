/** Where the version of the package is written. A release changes all of them. */
import { memberOf, type JsonNode, parseJsonText } from "../../src/lib/json-text.ts";

export interface VersionPlace {
  readonly file: string;
  /** Keys and indexes to a string in a JSON file. */
  readonly path?: readonly string[];
  /** Other texts around the version, before and after it. */
  readonly around?: readonly [before: string, after: string];
}

const template = "create-pressmark-source/template/_package.json";

export const versionPlaces: readonly VersionPlace[] = [
  { file: "package.json", path: ["version"] },
  { file: "package-lock.json", path: ["version"] },
  { file: "package-lock.json", path: ["packages", "", "version"] },
  { file: "create-pressmark-source/package.json", path: ["version"] },
  { file: template, path: ["devDependencies", "pressmark"] },
  { file: template, path: ["peerDependencies", "pressmark"] },
  { file: "README.md", around: ["Pressmark ", " serves at"] },
  { file: "README.md", around: ["pressmark-", ".tgz"] },
  { file: "docs/embedding.md", around: ["pressmark-", ".tgz"] },
  { file: "src/client/connect.ts", around: ['name: "pressmark", version: "', '"'] },
  { file: "src/picker/app-bridge.tsx", around: ['name: "pressmark-picker", version: "', '"'] },
  { file: "src/picker/entry.tsx", around: ['name: "pressmark-picker", version: "', '"'] },
];

/** Files in which the same digits mean something else. */
const unrelated: readonly RegExp[] = [
  // The history.
  /^CHANGELOG\.md$/,
  /^docs\/decisions\//,
  // Versions of other packages.
  /^package-lock\.json$/,
  // A new package's own first version.
  /^create-pressmark-source\/template\/_package\.json$/,
  /\.test\.ts$|^test\//,
];

/** Throws if the place does not exist, or has another version. */
export function replaceVersion(text: string, place: VersionPlace, from: string, to: string): string {
  const where = `${place.file}${place.path ? ` at ${place.path.join(".")}` : ""}`;
  if (place.around) {
    const [before, after] = place.around;
    const old = before + from + after;
    if (!text.includes(old)) throw new Error(`${where}: does not contain ${JSON.stringify(old)}`);
    return text.replaceAll(old, () => before + to + after);
  }
  const node = nodeAt(parseJsonText(text, { comments: false }), place.path ?? []);
  const literal = node === undefined ? "" : text.slice(node.start, node.end);
  if (!literal.startsWith('"') || !literal.includes(from)) throw new Error(`${where}: is not a string with ${from}`);
  return text.slice(0, node!.start) + literal.replace(from, to) + text.slice(node!.end);
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

/** Lines of a file that contain the version, although no place says so: `README.md:12`. */
export function undeclared(file: string, text: string, version: string): readonly string[] {
  if (unrelated.some((pattern) => pattern.test(file))) return [];
  const token = new RegExp(`(?<![\\d.])${version.replaceAll(".", String.raw`\.`)}(?![\\d]|\\.\\d)`);
  return text.split("\n").flatMap((line, index) => (token.test(line) ? [`${file}:${index + 1}`] : []));
}
