/** The common result of all formats: values by name, each with its line. */

export type Scalar = string | number | boolean | null;

export interface ConfigValue {
  /** From the outside in: keys, and list indexes. */
  readonly path: readonly (string | number)[];
  readonly value: Scalar;
  /** Counted from 1. */
  readonly line: number;
}

/** A file that violates its format. The message contains nothing of the file. */
export class FormatError extends Error {
  override readonly name = "FormatError";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

interface Leaves {
  readonly all: readonly ConfigValue[];
  add(path: readonly (string | number)[], value: Scalar, line: number): void;
}

/** Limits the expansion of aliases. */
const maxLeaves = 20_000;
export const maxConfigDepth = 64;
/** Including its parents: otherwise a long name with many values below it would expand, too. */
const maxNameLength = 1000;

export function createLeaves(): Leaves {
  const all: ConfigValue[] = [];
  return {
    all,
    add(path, value, line) {
      if (all.length >= maxLeaves) throw new FormatError(line, `it contains more than ${maxLeaves} values`);
      if (path.length > maxConfigDepth) throw new FormatError(line, "values are nested too deeply");
      if (lengthOf(path) > maxNameLength) throw new FormatError(line, "a name is too long");
      all.push({ path, value, line });
    },
  };
}

function lengthOf(path: ConfigValue["path"]): number {
  return path.reduce<number>((sum, each) => sum + (typeof each === "string" ? each.length : 1), 0);
}

/** `server.port`, `hosts[0]`, `["a.b"].c`. */
export function formatName(path: readonly (string | number)[]): string {
  return path
    .map((each, at) => {
      if (typeof each === "number") return `[${each}]`;
      if (!/^[^.[\]"\s]+$/.test(each)) return `[${JSON.stringify(each)}]`;
      return at === 0 ? each : `.${each}`;
    })
    .join("");
}
