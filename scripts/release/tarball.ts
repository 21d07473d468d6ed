/** What npm would publish. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findSecrets } from "../../src/lib/secrets.ts";

export interface Tarball {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const maxPackedBytes = 5_000_000;
const maxUnpackedBytes = 12_000_000;
const maxFileBytes = 1_000_000;

const required = ["package.json", "README.md", "LICENSE", "CHANGELOG.md"];
const forbidden: readonly RegExp[] = [
  /(?:^|\/)(?:src|tests?|bench|scripts|node_modules|\.git|\.github)\//,
  // Examples may have tests.
  /^(?!examples\/).*(?:\.test\.|(?:^|\/)test-[^/]*\.(?:js|ts)$)/,
  /(?:^|\/)\.(?:env|npmrc)/,
  /\.(?:key|map|p12|pem|pfx|tgz)$/,
];

/** Compressed, or examples with words to be replaced. */
const withoutSecrets = /\.(?:gz|png)$|\.example\./;

export function packedFiles(folder: string): Tarball {
  const text = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [tarball] = JSON.parse(text) as readonly Tarball[];
  return tarball!;
}

export function tarballProblems({ size, unpackedSize, files }: Tarball, folder: string): readonly string[] {
  const paths = files.map(({ path }) => path);
  return [
    ...(size > maxPackedBytes ? [`the tarball has ${size} bytes, more than ${maxPackedBytes}`] : []),
    ...(unpackedSize > maxUnpackedBytes
      ? [`the tarball has ${unpackedSize} bytes unpacked, more than ${maxUnpackedBytes}`]
      : []),
    ...required.filter((path) => !paths.includes(path)).map((path) => `the tarball lacks ${path}`),
    ...targets(folder)
      .filter((target) => !paths.some((path) => matches(target, path)))
      .map((target) => `the tarball lacks ${target}, which package.json names`),
    ...files.flatMap(({ path, size: bytes }) => fileProblems(path, bytes, folder)),
  ];
}

function fileProblems(path: string, bytes: number, folder: string): readonly string[] {
  const problems: string[] = [];
  if (forbidden.some((pattern) => pattern.test(path))) problems.push(`the tarball contains ${path}`);
  if (bytes > maxFileBytes) problems.push(`${path} has ${bytes} bytes, more than ${maxFileBytes}`);
  if (!withoutSecrets.test(path)) {
    const text = readFileSync(join(folder, path), "utf8");
    for (const { from, kind } of findSecrets(text))
      problems.push(`${path}:${text.slice(0, from).split("\n").length} contains ${kind}`);
  }
  return problems;
}

/** Files that the manifest names: `bin` and all of `exports`, in which `*` stands for a name. */
function targets(folder: string): readonly string[] {
  const { bin, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  const found: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") found.push(value.replace(/^\.\//, ""));
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
  };
  collect([bin, exports]);
  return found;
}

function matches(target: string, path: string): boolean {
  const [before = "", after] = target.split("*");
  return after === undefined ? path === before : path.startsWith(before) && path.endsWith(after);
}
