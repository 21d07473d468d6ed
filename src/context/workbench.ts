/** Cleans, ranks and packs the texts of one gathering. All arguments and results can be cloned. */
import { digestOf } from "../lib/digest.ts";
import type { ChangedLines } from "./changed-lines.ts";
import { clean, type Clean, countIn } from "./clean.ts";
import type { CountTokens } from "./count-tokens.ts";
import { type PassageChoice, fitPack } from "./fit.ts";
import { createFrame, type PackFrame } from "./frame.ts";
import type { PackItem, PackFormat } from "./pack.ts";
import { baseNameOf } from "./neighbours.ts";
import { rank, type Ranked, type RankedPassage } from "./rank.ts";
import { readTask, type Task } from "./read-task.ts";
import type { PassageSource, PackRole } from "./passage-source.ts";
import { createShownPaths } from "./shown-paths.ts";
import { lookThrough, type Text, type TextNames } from "./texts.ts";

/** A text as it was read. */
interface RawText extends TextNames {
  readonly key: string;
  readonly raw: string;
}

/** Metadata of a text. */
export interface AboutText {
  readonly key: string;
  /** Search score, from 0 to 1. */
  readonly found: number;
  readonly inherited: number;
  /** How much similar past commits speak for it, from 0 to 1. */
  readonly history: number;
  /** Lines that similar commits left behind, and their weights. */
  readonly changed?: ChangedLines;
  readonly factor: number;
  readonly isPinned: boolean;
  readonly role?: PackRole;
  readonly item: PassageSource["item"];
}

export interface RankedText {
  readonly key: string;
  readonly score: number;
}

/** An item of the pack, and its line on the receipt. */
export interface PackedItem {
  readonly key: string;
  readonly item: PackItem;
  readonly also: readonly string[];
  readonly digest: string;
  readonly tokens: number;
  /** Sentences without a subject: which words of the task it contains, and which its path does. */
  readonly says: readonly string[];
  readonly masked: number;
  readonly removed: number;
}

interface Packed {
  readonly text: string;
  readonly tokens: number;
  /** Name of the tokenizer. */
  readonly counter: string;
  readonly items: readonly PackedItem[];
  /** Number of texts of which something is not relevant enough. */
  readonly belowFloor: number;
  /** Texts of which nothing fits, and those of which only a part does. */
  readonly noRoom: readonly string[];
  readonly cut: readonly string[];
}

interface PreparedText {
  readonly raw: string;
  readonly clean: Clean;
  readonly text: Text;
}

/** Only so much of a longer text is used. */
const maxTextLength = 1024 * 1024;
const maxWords = 4;

export interface Workbench {
  /** Adds a text. False for content that is not text, whatever its label. */
  add(text: RawText): boolean;
  /** Best first. */
  rankTexts(about: readonly AboutText[]): readonly RankedText[];
  /** Paths in the text are relative to `base`. */
  pack(about: readonly AboutText[], budget: number, format: PackFormat, base: string | undefined): Promise<Packed>;
}

export function createWorkbench(taskText: string, counter: CountTokens): Workbench {
  const task = readTask(taskText);
  const prepared = new Map<string, PreparedText>();

  function inOrder(about: readonly AboutText[]): readonly { readonly about: AboutText; readonly ranking: Ranked }[] {
    const rankings = rank(
      about.map((one) => ({ ...one, text: prepared.get(one.key)!.text })),
      task,
    );
    return about
      .map((one, at) => ({ about: one, ranking: rankings[at]! }))
      .sort(
        (left, right) =>
          right.ranking.score - left.ranking.score ||
          // Without a task the given order is preserved.
          (task.terms.size === 0 ? 0 : compare(left.about.item.uri, right.about.item.uri)),
      );
  }

  async function toPacked({ item, passages, also }: PassageChoice, key: string, frame: PackFrame): Promise<PackedItem> {
    const { raw, clean: cleaned, text } = prepared.get(key)!;
    return {
      key,
      item: shownItem(item),
      also,
      digest: await digestOf(raw),
      tokens: counter.count(frame.item(item)),
      says: sentencesOf(task, passages, text, item),
      masked: countIn(cleaned.masked, item.lines),
      removed: countIn(cleaned.removed, item.lines),
    };
  }

  return {
    add({ key, raw, ...names }) {
      const cleaned = clean(raw.slice(0, maxTextLength));
      const text = lookThrough(cleaned.text, names, task);
      if (text) prepared.set(key, { raw, clean: cleaned, text });
      return text !== undefined;
    },

    rankTexts: (about) => inOrder(about).map(({ about: { key }, ranking: { score } }) => ({ key, score })),

    async pack(about, budget, format, base) {
      const keys = new Map<PassageSource, string>();
      const sources = inOrder(about).map(({ about: { key, item, isPinned, role }, ranking }): PassageSource => {
        const { text, kind } = prepared.get(key)!.text;
        const { passages, implementation } = ranking;
        const source = {
          item,
          text,
          isPinned,
          role,
          isTest: kind === "test",
          ...(implementation !== undefined && { implementation: about[implementation]!.item.uri }),
          passages,
        };
        keys.set(source, key);
        return source;
      });
      const paths = createShownPaths(
        about.map(({ item }) => item.uri),
        base,
      );
      const frame = createFrame(format, paths);
      const { text, tokens, chosen, noRoom, cut, belowFloor } = fitPack(sources, budget, frame, counter);
      const items: PackedItem[] = [];
      for (const choice of chosen) items.push(await toPacked(choice, keys.get(choice.source)!, frame));
      return {
        text,
        tokens,
        counter: counter.name,
        items,
        belowFloor,
        noRoom: noRoom.map((source) => keys.get(source)!),
        cut: cut.map((source) => keys.get(source)!),
      };
    },
  };
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function sentencesOf(
  task: Task,
  passages: readonly RankedPassage[],
  { pathTerms }: Text,
  { uri }: PackItem,
): readonly string[] {
  const quoted = (terms: readonly string[]): string =>
    [...new Set(terms.map((term) => task.terms.get(term)!.surface))]
      .slice(0, maxWords)
      .map((word) => `"${word}"`)
      .join(", ");
  const isContent = (term: string): boolean => task.terms.get(term)!.isContent;
  const words = quoted(passages.flatMap(({ terms }) => terms.filter(isContent).slice(0, maxWords)));
  const inPath = quoted([...pathTerms].filter(isContent));
  return [
    ...new Set(passages.flatMap(({ reasons }) => reasons)),
    ...(words === "" ? [] : [`contains ${words}`]),
    ...(inPath === "" ? [] : [`${shown(baseNameOf(uri))} has a matching name: ${inPath}`]),
  ];
}

function shownItem({ name, title, mimeType, lastModified, ...item }: PackItem): PackItem {
  return {
    ...item,
    name: shown(name),
    title: title && shown(title),
    mimeType: mimeType && shown(mimeType),
    lastModified: lastModified && shown(lastModified),
  };
}

/** Metadata is no safer than the text. */
function shown(text: string): string {
  return clean(text).text;
}
