/** What the specification asks, revision by revision: one row per requirement, cited by the tests that hold us to it. */
import { early } from "./requirements/early.ts";
import { legacy } from "./requirements/legacy.ts";
import { modern } from "./requirements/modern.ts";
import { skills } from "./requirements/skills.ts";

export type Level = "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "MAY";
export type Party = "server" | "client" | "host" | "both" | "intermediary";
export type Transport = "stdio" | "http" | "sse";

export interface Requirement {
  /** S3-n (the early draft), LEG-n (2024-11-05 to 2025-11-25) MOD-n (2026-07-28) or SKL-n (skills). */
  readonly id: string;
  /** The page it comes from, in the newest revision that has it. */
  readonly link: string;
  readonly sentence: string;
  readonly level: Level;
  readonly party: Party;
  readonly revisions: readonly string[];
  readonly transports: readonly Transport[];
  /** Why no test holds us to it yet. */
  readonly later?: string;
}

const levels: readonly string[] = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"] satisfies Level[];
const parties: readonly string[] = ["server", "client", "host", "both", "intermediary"] satisfies Party[];
const transports: readonly string[] = ["stdio", "http", "sse"] satisfies Transport[];
const dates: Readonly<Record<string, string>> = {
  "10": "2024-10-07",
  "24": "2024-11-05",
  "03": "2025-03-26",
  "06": "2025-06-18",
  "11": "2025-11-25",
  "26": "2026-07-28",
};

export const requirements: readonly Requirement[] = [
  ...rowsOf("S3", early),
  ...rowsOf("LEG", legacy),
  ...rowsOf("MOD", modern),
  ...rowsOf("SKL", skills),
];

/** Whether a server is concerned, now. */
export function bindsTheServer({ party, later }: Requirement): boolean {
  return (party === "server" || party === "both") && later === undefined;
}

function rowsOf(prefix: string, table: string): Requirement[] {
  const rows = table
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => rowOf(prefix, line));
  rows.forEach(({ id }, index) => {
    if (id !== `${prefix}-${index + 1}`) throw new Error(`the row after ${prefix}-${index} is ${id}`);
  });
  return rows;
}

/** A line of a table: number | level | party | revisions | transports | page | sentence | later. */
function rowOf(prefix: string, line: string): Requirement {
  const [number, level, party, revisions, carried, page, sentence, later, ...rest] = line
    .split("|")
    .map((cell) => cell.trim());
  if (!number || !level || !party || !revisions || !carried || !page || !sentence || rest.length > 0)
    throw new Error(`a row has seven cells, or eight: ${line}`);
  if (!isOneOf<Level>(level, levels)) throw new Error(`no level: ${line}`);
  if (!isOneOf<Party>(party, parties)) throw new Error(`no party: ${line}`);
  const when = revisions.split(" ").map((short) => dates[short] ?? fail(`no revision: ${line}`));
  const over = carried === "any" ? transports : carried.split(" ");
  if (!over.every((name) => isOneOf<Transport>(name, transports))) throw new Error(`no transport: ${line}`);
  return {
    id: `${prefix}-${number}`,
    // The early draft has no page of its own; the first published revision's is the nearest.
    link: page.startsWith("https://")
      ? page
      : `https://modelcontextprotocol.io/specification/${when.at(-1) === "2024-10-07" ? "2024-11-05" : when.at(-1)}/${page}`,
    sentence,
    level,
    party,
    revisions: when,
    transports: over.filter((name) => isOneOf<Transport>(name, transports)),
    ...(later && { later }),
  };
}

function isOneOf<T extends string>(value: string, allowed: readonly string[]): value is T {
  return allowed.includes(value);
}

function fail(message: string): never {
  throw new Error(message);
}
