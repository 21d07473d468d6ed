/** A repository: a thousand files at a commit beside git itself and other ways to read it, and a log that may be long. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Case, Column, Row } from "../case.ts";
import { gitScript } from "../contestants.ts";
import { median } from "../figures.ts";

interface Taken {
  readonly wallMs: number;
  readonly cpuMs: number | null;
}

const columns: readonly Column[] = [
  { key: "wall", label: "wall ms", digits: 1 },
  { key: "ratio", label: "×", digits: 2 },
  { key: "cpu", label: "CPU ms", digits: 1 },
  { key: "cpuRatio", label: "×", digits: 2 },
];

const readers = ["cat-file --batch", "pressmark", "pressmark, the house", "isomorphic-git", "a process each"];
const lengths = { "100 commits": "shortRepository", "10,000 commits": "repository" } as const;

export const gitCases: readonly Case[] = [
  {
    name: "git-blobs",
    title: "read 1,000 files at a commit of 10,000, all at once, in a process of its own",
    needs: ["repository"],
    columns,
    targets: [
      { says: "1,000 files at a commit, × git cat-file --batch, wall", column: "ratio", atMost: 1.5 },
      { says: "1,000 files at a commit, × git cat-file --batch, CPU", column: "cpuRatio", atMost: 1.5 },
      { says: "1,000 files at a commit, × isomorphic-git", column: "isomorphic", atMost: 1 },
      { says: "1,000 files at a commit, × a process each", column: "process", atMost: 1 },
    ],
    async run({ fixture, rounds }) {
      const taken = await inTurns(readers, rounds, (how) => measure("blobs", how, fixture.repository));
      return readers.map((name) => {
        const row = toRow(name, readers[0]!, taken);
        if (name !== "pressmark") return row;
        const isomorphic = ratio(taken, name, "isomorphic-git", "wallMs");
        const process = ratio(taken, name, "a process each", "wallMs");
        return { ...row, figures: { ...row.figures, isomorphic, process } };
      });
    },
  },
  {
    name: "git-log",
    title: "the first page of a log, through the house",
    needs: ["repository", "shortRepository"],
    columns: columns.slice(0, 2),
    targets: [
      { says: "the first page of 10,000 commits, × of 100", row: "10,000 commits", column: "ratio", atMost: 1.2 },
    ],
    async run({ fixture, rounds }) {
      const names = Object.keys(lengths) as (keyof typeof lengths)[];
      const taken = await inTurns(names, rounds, (name) => measure("log", "", fixture[lengths[name]]));
      return names.map((name) => toRow(name, names[0]!, taken));
    },
  },
];

type Rounds = ReadonlyMap<string, readonly Taken[]>;

async function inTurns<Name extends string>(
  names: readonly Name[],
  rounds: number,
  turn: (name: Name) => Promise<Taken>,
): Promise<Rounds> {
  const taken = new Map<string, Taken[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) for (const name of names) taken.get(name)!.push(await turn(name));
  return taken;
}

/** The median of a process's turns. */
async function measure(what: string, how: string, root: string): Promise<Taken> {
  const { stdout } = await promisify(execFile)(process.execPath, [gitScript, what, how, root]);
  const turns = JSON.parse(stdout) as Taken[];
  return {
    wallMs: median(turns.map(({ wallMs }) => wallMs)),
    cpuMs: median(turns.map(({ cpuMs }) => cpuMs ?? Number.NaN)),
  };
}

function toRow(name: string, against: string, taken: Rounds): Row {
  const own = taken.get(name)!;
  return {
    contestant: name,
    figures: {
      wall: median(own.map(({ wallMs }) => wallMs)),
      ratio: ratio(taken, name, against, "wallMs"),
      cpu: median(own.map(({ cpuMs }) => cpuMs ?? Number.NaN)),
      cpuRatio: ratio(taken, name, against, "cpuMs"),
    },
  };
}

/** Compared within each round. */
function ratio(taken: Rounds, name: string, against: string, figure: keyof Taken): number {
  const others = taken.get(against)!;
  return median(
    taken.get(name)!.map((own, round) => (own[figure] ?? Number.NaN) / (others[round]![figure] ?? Number.NaN)),
  );
}
