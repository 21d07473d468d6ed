/** The content that the contracts require of a backend: names that have caused bugs, and an order that only one comparison gives. */
import { pathOf, segmentsOf } from "../source.ts";

/** Path → text. An undefined value must exist, but is not compared. */
export type KnownContent = Readonly<Record<string, string | undefined>>;

export const contractContent: KnownContent = {
  "readme.md": "# Read me\n\nfirst of all\n",
  "empty.txt": "",
  // "-" and "." sort before "/" as characters, and after it as the end of a segment.
  "docs/a.txt": "alpha",
  "docs/b.txt": "beta\r\nwith a second line",
  "docs/deep/er/c.txt": "a line\nthe needle-in-a-haystack is here\nanother line\n",
  "docs-old/a.txt": "old alpha",
  "docs.txt": "beside the directory",
  "names/with space.txt": "a space",
  "names/100%.txt": "a percent sign",
  "names/%41.txt": "an escape that is none",
  "names/a#b.txt": "a hash",
  "names/what?.txt": "a question mark",
  "names/a&b=c+d;e,f.txt": "what queries are made of",
  "names/~(it's) [a] {test}!.txt": "what templates are made of",
  "names/日本語.md": "日本語の本文",
  "names/e\u0301te\u0301.txt": "composed of letters and accents (NFD)",
  "names/🦊🚀.txt": "🦊 before ～ in UTF-16, behind it by code point",
  "names/～.txt": "a wide tilde",
};

/** The directories of these paths, without the mount itself. */
export function directoriesOf(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths)
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
      found.add(path.slice(0, slash));
  return [...found];
}

/** Paths beside, below and above existing ones, and variants of their names. */
export function missingBeside(known: readonly string[], directories: readonly string[], aFile: string): string[] {
  const nested = known.find((path) => path.includes("/"));
  return [
    "no-such-thing",
    "no/such/thing",
    // Every object has this property.
    "constructor",
    `${aFile}x`,
    `${aFile}/below`,
    // Empty segments count.
    `/${aFile}`,
    `${aFile}/`,
    ...directories.flatMap((path) => [`/${path}`, `${path}/`]),
    ...[nested, ...directories].flatMap((path) => (path?.includes("/") ? [path.replace("/", "//")] : [])),
    ...[aFile, ...directories.slice(0, 1)].map((path) => path.toUpperCase()),
    ...directories.map((path) => `${path}/no-such-thing`),
    ...(nested === undefined ? [] : [nested.replace("/", "%2F"), pathOf([segmentsOf(nested).join("/")])]),
  ].filter((path) => !known.includes(path));
}
