/** Finds problems in the documents themselves: broken links, and translations without a counterpart. */
import { quote, ResourceError } from "../../errors.ts";
import type { Call } from "../../resources.ts";
import type { SourceProblem } from "../../source.ts";
import type { Arrangement, Placed } from "./arrange.ts";
import type { DocumentFiles } from "./collection.ts";
import { type DocumentFormat, documentFormatOf } from "./formats.ts";
import type { DocumentHead } from "./head.ts";
import { findHeadings } from "./headings.ts";
import { findLinks, followLink } from "./links.ts";

/** More problems are of no use to a reader. */
const maxFaults = 1000;
const maxDocuments = 5000;
const maxMs = 15_000;

const checked: ReadonlySet<DocumentFormat> = new Set<DocumentFormat>(["markdown", "asciidoc", "rst"]);
/** A link to a page often omits the file extension. */
const endings = ["", ".md", ".mdx", ".adoc", ".rst", "/index.md", "/README.md", "/index.mdx"];

/** In address order, then by line. Limited in number and time. */
export async function findFaults(
  { placed, byFile }: Pick<Arrangement, "placed" | "byFile">,
  files: DocumentFiles,
  call: Call,
): Promise<SourceProblem[]> {
  const endMs = performance.now() + maxMs;
  const hasPairs = placed.some(({ twins }) => twins.size > 0);
  const exists = new Map<string, Promise<boolean>>();
  const anchors = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  const faults: SourceProblem[] = [];
  for (const each of placed.slice(0, maxDocuments)) {
    if (performance.now() > endMs || call.signal.aborted) break;
    faults.push(...pairFaults(each, hasPairs));
    if (checked.has(each.document.format)) for await (const fault of linkFaults(each.document)) faults.push(fault);
    if (faults.length >= maxFaults) break;
    await new Promise(setImmediate);
  }
  return faults.slice(0, maxFaults);

  async function* linkFaults({ file, format, bare }: DocumentHead): AsyncGenerator<SourceProblem> {
    const text = await textOf(file);
    if (text === undefined) return;
    for (const { target, line } of await findLinks(text, format)) {
      const led = followLink(file, target);
      if (!led) continue;
      // Docusaurus shows the original of what is not translated.
      const beside =
        bare !== file && file.includes("/docusaurus-plugin-content-") ? followLink(bare, target) : undefined;
      const found = (await locate(led.path)) ?? (beside && (await locate(beside.path)));
      const says =
        found === undefined ? leadsNowhere : (await hasAnchor(found, led.fragment)) ? undefined : lacksHeading;
      if (says !== undefined) yield { path: file, line, says: says(quote(target)) };
    }
  }

  async function locate(path: string): Promise<string | undefined> {
    for (const ending of endings) if (await isThere(path + ending)) return path + ending;
    return undefined;
  }

  function isThere(path: string): Promise<boolean> {
    let known = exists.get(path);
    if (!known) {
      const existence = byFile.has(path)
        ? Promise.resolve(true)
        : files.stat({ path }, call).then(
            () => true,
            () => false,
          );
      exists.set(path, (known = existence));
    }
    return known;
  }

  /** True if unknown. */
  async function hasAnchor(file: string, fragment: string): Promise<boolean> {
    if (fragment === "" || fragment === "top") return true;
    let known = anchors.get(file);
    if (!known) anchors.set(file, (known = anchorsOf(file)));
    const there = await known;
    return !there || there.has(fragment) || there.has(fragment.toLowerCase());
  }

  async function anchorsOf(file: string): Promise<ReadonlySet<string> | undefined> {
    const format = byFile.get(file)?.document.format ?? documentFormatOf(file);
    if (format !== "markdown") return undefined;
    const text = await textOf(file);
    if (text === undefined) return undefined;
    const ids = [...text.matchAll(/\b(?:id|name)\s{0,4}=\s{0,4}["']([^"'<>\s]{1,200})["']/gi)].map(([, id = ""]) => id);
    return new Set([...(await findHeadings(text, format)).map(({ slug }) => slug), ...ids]);
  }

  async function textOf(file: string): Promise<string | undefined> {
    try {
      const [part] = await files.read({ path: file }, call);
      return part && "text" in part.body ? part.body.text : undefined;
    } catch (cause) {
      // Too large, or deleted since.
      if (cause instanceof ResourceError) return undefined;
      throw cause;
    }
  }
}

const leadsNowhere = (target: string) => `links to ${target}, which does not exist or is not served`;
const lacksHeading = (target: string) => `links to ${target}, but no heading there has that name`;

function pairFaults({ document, twins }: Placed, hasPairs: boolean): SourceProblem[] {
  const { file: path, lang, mark } = document;
  if (mark === undefined) return [];
  if (mark !== lang) return [{ path, line: 1, says: `is marked as ${quote(mark)} but written in ${quote(lang)}` }];
  if (!hasPairs || twins.size > 0) return [];
  return [{ path, line: 1, says: `is marked as ${quote(mark)} but has no counterpart in another language` }];
}
