/** The constants of the model: figures of the bench, kept with their date and machine in measured.json. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const kinds = ["read", "list", "search"] as const;
export type RequestKind = (typeof kinds)[number];

export interface KindCosts {
  readonly instanceUs: number;
  readonly databaseUs: number;
  /** Of a response. */
  readonly bytes: number;
}

/** One, two or three instances behind nginx, at a steady rate. */
export interface MeasuredPoint {
  readonly workload: "reads" | "mix";
  readonly instances: number;
  readonly perSecond: number;
  readonly instanceUs: number;
}

export interface IndexCosts {
  readonly texts: number;
  /** Of one text. */
  readonly indexInstanceUs: number;
  readonly indexDatabaseUs: number;
  readonly bytes: number;
  readonly passages: number;
  /** Of one search. */
  readonly searchInstanceUs: number;
  readonly searchDatabaseUs: number;
}

export interface BusCosts {
  readonly perSecond: number;
  /** Of a message: once, and for each instance that receives it. */
  readonly engineUs: number;
  readonly engineEachUs: number;
  /** Of an instance for each message that it receives. */
  readonly receiveUs: number;
}

export interface Measured {
  readonly date: string;
  readonly machine: string;
  /** With shared state and a whole processor. */
  readonly requests: Readonly<Record<RequestKind, KindCosts>>;
  /** CPU µs in a second without requests, for each instance. */
  readonly idle: { readonly instanceUs: number; readonly databaseUs: number };
  readonly listens: { readonly bytes: number; readonly notifyUs: number; readonly databaseUs: number };
  readonly instanceBytes: number;
  readonly balancerUs: number;
  readonly bus: BusCosts;
  /** By number of texts. */
  readonly index: readonly IndexCosts[];
  /** Each kind by itself at a steady rate, without what an instance takes when it is idle. */
  readonly calibration: Readonly<Record<RequestKind, Pick<KindCosts, "instanceUs" | "databaseUs">>>;
  /** × the CPU of a request, if two other instances on the machine do the same: they share its processors and their caches. */
  readonly besideTwo: number;
  readonly mix: Readonly<Record<RequestKind, number>>;
  readonly points: readonly MeasuredPoint[];
}

export const measuredFile = join(import.meta.dirname, "measured.json");

export function readMeasured(): Measured {
  return JSON.parse(readFileSync(measuredFile, "utf8")) as Measured;
}
