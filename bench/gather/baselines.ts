/** What a plain search would put into a pack: the best of BM25, until nothing more fits. */
import { tokenize } from "../../src/search/tokens.ts";
import { estimate } from "../../src/context/count-tokens.ts";

export type Lines = Map<string, Set<number>>;

export interface Baseline {
  readonly name: string;
  add(path: string, text: string): void;
  remove(path: string): void;
  /** For each budget, which lines of which files would be in the pack. */
  pack(task: string, budgets: readonly number[]): readonly Lines[];
}

interface Unit {
  readonly path: string;
  /** Counted from 1, both ends included. */
  readonly first: number;
  readonly last: number;
  readonly length: number;
  readonly cost: number;
}

interface Shape {
  readonly name: string;
  /** Infinite for whole files. */
  readonly lines: number;
  readonly pathWords: boolean;
  readonly onePerFile: boolean;
}

const shapes: readonly Shape[] = [
  { name: "BM25, whole files", lines: Infinity, pathWords: false, onePerFile: false },
  { name: "BM25, 40-line passages", lines: 40, pathWords: false, onePerFile: false },
  { name: "BM25, passages with path words", lines: 40, pathWords: true, onePerFile: false },
  { name: "BM25, one passage per file", lines: 40, pathWords: true, onePerFile: true },
];

const k1 = 1.2;
const b = 0.75;

export const createBaselines = (): readonly Baseline[] => shapes.map(createBaseline);

function createBaseline({ name, lines, pathWords, onePerFile }: Shape): Baseline {
  const units: (Unit | undefined)[] = [];
  /** Term → unit, times, unit, times… */
  const postings = new Map<string, number[]>();
  const byPath = new Map<string, number[]>();

  return {
    name,
    add(path, text) {
      const rows = text.split("\n");
      if (rows.at(-1) === "") rows.pop();
      const ids: number[] = [];
      for (let at = 0; at < rows.length; at += lines) {
        const piece = rows.slice(at, Math.min(rows.length, at + lines)).join("\n");
        const times = new Map<string, number>();
        let length = 0;
        for (const { term, kind } of tokenize(pathWords ? `${path}\n${piece}` : piece)) {
          times.set(term, (times.get(term) ?? 0) + 1);
          if (kind !== "whole") length += 1;
        }
        const id = units.length;
        const last = Math.min(rows.length, at + lines);
        units.push({ path, first: at + 1, last, length, cost: estimate.count(`${path}\n${piece}\n`) });
        ids.push(id);
        for (const [term, count] of times) {
          const list = postings.get(term);
          if (list) list.push(id, count);
          else postings.set(term, [id, count]);
        }
        if (lines === Infinity) break;
      }
      byPath.set(path, ids);
    },
    remove(path) {
      for (const id of byPath.get(path) ?? []) units[id] = undefined;
      byPath.delete(path);
    },
    pack(task, budgets) {
      let count = 0;
      let words = 0;
      for (const unit of units) {
        if (!unit) continue;
        count += 1;
        words += unit.length;
      }
      const mean = words / Math.max(1, count);
      const scores = new Map<number, number>();
      for (const term of new Set(tokenize(task).map((token) => token.term))) {
        const list = (postings.get(term) ?? []).flatMap((id, at, all) =>
          at % 2 === 0 && units[id] ? [[id, all[at + 1]!] as const] : [],
        );
        const idf = Math.log(1 + (count - list.length + 0.5) / (list.length + 0.5));
        for (const [id, times] of list) {
          const norm = k1 * (1 - b + (b * units[id]!.length) / mean);
          scores.set(id, (scores.get(id) ?? 0) + (idf * times * (k1 + 1)) / (times + norm));
        }
      }
      const ranked = [...scores]
        .sort((left, right) => right[1] - left[1] || left[0] - right[0])
        .map(([id]) => units[id]!);
      return budgets.map((budget) => {
        const pack: Lines = new Map();
        let room = budget;
        for (const unit of ranked) {
          if (unit.cost > room || (onePerFile && pack.has(unit.path))) continue;
          room -= unit.cost;
          let held = pack.get(unit.path);
          if (!held) pack.set(unit.path, (held = new Set()));
          for (let line = unit.first; line <= unit.last; line += 1) held.add(line);
        }
        return pack;
      });
    },
  };
}
