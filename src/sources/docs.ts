/** Documentation in several languages: the documents below one folder with their titles, priorities, audiences and headings. */
import type { z } from "zod";
import { folderOptions } from "../backends/disk/folder-options.ts";
import { openFolder, realRoot, type FolderOptions } from "../backends/disk/open-folder.ts";
import { isDirectoryError, notFound } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { type Page, serverCaller } from "../resources.ts";
import { defineSource } from "../source.ts";
import type { Entry, Runtime } from "../source.ts";
import type { Arrangement, Placed } from "./docs/arrange.ts";
import { createCollection, type DocumentFiles } from "./docs/collection.ts";
import { completeDocument } from "./docs/complete.ts";
import { createDescribe, directoryEntry } from "./docs/entry.ts";
import { findFaults } from "./docs/faults.ts";
import { createGitTimes } from "./docs/git-times.ts";
import { canonicalTag, createLanguageMarks } from "./docs/language.ts";
import { createDocumentReader, headingTemplate, parseDocumentQuery, rangeTemplate } from "./docs/reading.ts";
import { createRules, type RuleOption } from "./docs/rules.ts";
import { createVisibleDocuments } from "./docs/visible.ts";
import { watchDocuments } from "./docs/watch.ts";

export type { RuleOption } from "./docs/rules.ts";

export interface DocsOptions extends FolderOptions {
  readonly ref?: string;
  readonly lang?: string;
  readonly prefer?: string;
  readonly languages?: readonly string[];
  readonly rules?: readonly RuleOption[];
  readonly git?: boolean;
}

/** The first list waits this long for commit times; later ones appear in later lists. */
const patienceMs = 300;
/** Shortest interval between checks for new commits. */
const datingMs = 1000;
/** A continued list may use a collection up to this old. */
const maxAgeMs = 2000;
const maxLimit = 10_000;

const docsFolders: ReadonlySet<string> = new Set(
  "docs doc documentation guides handbook wiki ドキュメント 文書 資料 マニュアル 手順書 仕様書 設計書".split(" "),
);

export default defineSource<DocsOptions>({
  name: "docs",
  summary: "Documentation in several languages, with priorities and headings",
  scheme: "docs",
  options: (z) =>
    z.object({
      root: z.string().min(1).describe("Folder with the documents").meta({ format: "path" }),
      ...folderOptions(z),
      ref: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe("Serve the folder at this branch, tag or commit instead of the files on disk"),
      lang: languageTag(z).default("en").describe("Language of documents whose language cannot be detected"),
      prefer: languageTag(z)
        .optional()
        .describe("Preferred language; translations of the same document into other languages get a lower priority"),
      languages: z
        .array(languageTag(z))
        .max(200)
        .optional()
        .describe("Language codes that mark folders and files (ja/guide.md, guide.ja.md). Default: common languages"),
      rules: z
        .array(
          z.strictObject({
            match: z
              .union([z.string().min(1).max(1000), z.array(z.string().min(1).max(1000)).min(1).max(100)])
              .describe("Path pattern, or several; without a slash it matches a name at any depth"),
            priority: z.number().min(0).max(1).optional().describe("From 0 to 1. Default: 0.5"),
            audience: z
              .array(z.enum(["user", "assistant"]))
              .min(1)
              .optional()
              .describe("Audience. Default: both"),
          }),
        )
        .max(1000)
        .default([])
        .describe("Priority and audience of documents, checked before the built-in rules; the first match applies"),
      git: z.boolean().default(true).describe("Use the time of the last commit as the modification time"),
    }) as unknown as z.ZodType<DocsOptions>,

  detect: ({ entries }) =>
    entries()
      .filter(({ name, isDirectory }) => isDirectory && docsFolders.has(name.normalize("NFC")))
      .map(({ name }) => ({ what: "documentation", where: name, values: { root: name }, name, showsTexts: true })),

  async open({ ref, lang = "en", prefer, languages, rules = [], git = true, ...folder }, runtime) {
    const fallback = canonicalTag(lang) ?? "en";
    const marks = createLanguageMarks(languages);
    const judge = createRules(rules);
    const files = ref === undefined ? openFolder(folder, runtime) : await filesAt(ref, folder, runtime);
    const realFolder = realRoot(folder.root);
    const visible = createVisibleDocuments(realFolder);
    const times = git ? createGitTimes({ root: folder.root, ref, env: runtime.env }) : undefined;
    /** Resolves when the commit times are known. */
    let dated: Promise<void> | undefined;
    let datedMs = -Infinity;
    let isPatient = true;
    /** Of all documents. */
    let latest: Arrangement | undefined;
    const addressOf = (path: string) => latest?.byFile.get(path)?.address;
    const collection = createCollection({
      files,
      runtime,
      visible,
      marks,
      rules: judge,
      fallback,
      looked(arrangement) {
        latest = arrangement;
        if (performance.now() - datedMs < datingMs) return;
        datedMs = performance.now();
        dated = times?.refresh(() => arrangement.byFile.keys());
      },
    });
    const wholeFolder = [{ path: realFolder, isWhole: true, isFiltered: true }];
    const preferred = prefer === undefined ? undefined : canonicalTag(prefer);
    const describe = createDescribe({ prefer: preferred, timeOf: (path) => times?.of(path), addressOf });
    const reading = createDocumentReader({ files, describe, addressOf });

    return {
      isRanked: true,
      cursorAfter: ({ path }) => path,

      async list({ cursor, limit }, call): Promise<Page<Entry>> {
        const { placed } = await collection.look(call, cursor === undefined ? 0 : maxAgeMs);
        await untilDated(call.signal);
        const from = cursor === undefined ? 0 : indexAfter(placed, cursor);
        const items = placed.slice(from, from + Math.max(1, Math.min(maxLimit, limit))).map(describe);
        const last = items.at(-1);
        return last && from + items.length < placed.length ? { items, next: last.path } : { items };
      },

      async read({ path, query }, call) {
        const found = await collection.find(path, call);
        if (!found) throw notFound(path);
        const parsed = parseDocumentQuery(path, query);
        if ("names" in found) {
          if (parsed) throw notFound(path);
          throw isDirectoryError(path);
        }
        return reading.read(found.placed, parsed, call);
      },

      async stat({ path, query }, call) {
        const found = await collection.find(path, call);
        const parsed = parseDocumentQuery(path, query);
        if (!found || ("names" in found && parsed)) throw notFound(path);
        if ("names" in found) return directoryEntry(path, found.names);
        const entry = describe(found.placed);
        if (!parsed) return entry;
        const { size: _size, mimeType: _mimeType, ...rest } = entry;
        const slug = parsed["heading"];
        if (slug === undefined) {
          // The file source parses the query, or rejects it.
          await files.stat({ path: found.placed.document.file, query: parsed }, call);
          return { ...rest, query: parsed };
        }
        const { heading, mimeType } = await reading.section(found.placed, slug, call);
        return { ...rest, query: parsed, title: heading.title, mimeType };
      },

      async children({ path, query }, { cursor, limit }, call): Promise<Page<Entry>> {
        const { directories, byAddress } = await collection.look(call, cursor === undefined ? 0 : maxAgeMs);
        const names = directories.get(path);
        if (!names || parseDocumentQuery(path, query)) throw notFound(path);
        const rest = cursor === undefined ? names : names.filter((name) => name > cursor);
        const some = rest.slice(0, Math.max(1, Math.min(maxLimit, limit)));
        const items = some.map((name) => {
          const at = path === "" ? name : `${path}/${name}`;
          const placed = byAddress.get(at);
          return placed ? describe(placed) : directoryEntry(at, directories.get(at) ?? []);
        });
        const last = some.at(-1);
        return last !== undefined && some.length < rest.length ? { items, next: last } : { items };
      },

      templates: [
        {
          template: headingTemplate,
          name: "Document",
          description:
            "A document in one language (ja, en), or one section of it by the slug of its heading (heading=install), up to the next " +
            "heading of the same level",
        },
        {
          template: rangeTemplate,
          name: "Part of a document",
          description:
            "Some lines of a document (lines=10-40, from 1), some bytes (bytes=0-1023, from 0), or the text of a PDF, an office document or a web " +
            "page (as=text)",
        },
      ],

      complete: (request, call) => completeDocument(request, { collection, reading }, call),

      watch: (call) => watchDocuments(files, collection, runtime, call),

      async noteChanges(changes, call) {
        collection.expire();
        await files.noteChanges(changes, call);
      },

      filesOf({ path }) {
        const placed = latest?.byAddress.get(path);
        return placed ? visible.filesOf(placed) : wholeFolder;
      },

      filterFiles: visible.filterFiles,

      async learnFiles({ signal }) {
        await collection.look({ caller: serverCaller, signal }, maxAgeMs);
      },

      async problems(call) {
        return findFaults(await collection.look({ caller: serverCaller, signal: call.signal }), files, call);
      },

      async close() {
        collection.close();
        times?.close();
        await files.close();
      },
    };

    /** Waits only once: a slow history is not worth a second wait. */
    async function untilDated(signal: AbortSignal): Promise<void> {
      if (!dated || !isPatient) return;
      isPatient = false;
      await Promise.race([dated, aWhile(runtime, signal)]);
    }
  },
});

/** Loads the git source only when a ref is served. */
async function filesAt(ref: string, folder: FolderOptions, runtime: Runtime): Promise<DocumentFiles> {
  const { openRefFiles } = await import("./docs/ref-files.ts");
  const { root, maxBytes, ignore, hidden, allow, exclude } = folder;
  const chosen = { ignore, hidden };
  return openRefFiles({ root, ref, maxBytes, ...chosen, allow, exclude }, runtime);
}

/** Ends with the signal; never rejects. */
async function aWhile(runtime: Runtime, signal: AbortSignal): Promise<void> {
  await runtime.wait(patienceMs, signal).catch(() => undefined);
}

function languageTag(zod: typeof z) {
  return zod
    .string()
    .refine((text) => canonicalTag(text) !== undefined, { message: 'must be a language tag, as in "ja" or "zh-CN"' });
}

/** The index that follows an address, even one that no longer exists. */
function indexAfter(placed: readonly Placed[], address: string): number {
  let low = 0;
  let high = placed.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAddresses((placed[middle] as Placed).address, address) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
