/** A problem in a config: its position, its key, and what to do. */
import { ResourceError } from "../errors.ts";

export type KeyPath = readonly (string | number)[];

export interface TextPosition {
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly path: KeyPath;
  /** Printed after the key. Never contains a value from a reference. */
  readonly message: string;
  /** Whether the key is wrong, not its value. */
  readonly atKey?: boolean;
  /** For an unknown key: the key that was probably intended, which is then not reported as missing. */
  readonly meant?: KeyPath;
  /** Whether the rule concerns several values, not one option. */
  readonly isOfSeveral?: boolean;
  /** Whether something is absent on this machine, and the config may be right. */
  readonly isAbsence?: boolean;
  /** Position, if the parser reported it; otherwise looked up by the path. */
  readonly place?: TextPosition;
}

/** `pressmark.config.yaml:4:5 mounts.docs.rot: unknown option; did you mean "root"?` */
export function problemLine(file: string, { path, message }: Problem, place: TextPosition | undefined): string {
  const where = place ? `${file}:${place.line}:${place.column}` : file;
  return path.length === 0 ? `${where}: ${message}` : `${where} ${formatPath(path)}: ${message}`;
}

/** Removes problems that follow from others, and sorts by position. */
export function inOrder(
  problems: readonly Problem[],
  placeOf: (problem: Problem) => TextPosition | undefined,
): Problem[] {
  const meant = new Set(problems.flatMap((problem) => (problem.meant ? [formatPath(problem.meant)] : [])));
  const rank = (problem: Problem) => {
    const place = placeOf(problem);
    return place ? place.line * 1e6 + place.column : 0;
  };
  return problems
    .filter(({ path, atKey }) => atKey || !meant.has(formatPath(path)))
    .toSorted((one, other) => rank(one) - rank(other));
}

/** `mounts.docs.roots[2]`; names with other characters are put in brackets. */
export function formatPath(path: KeyPath): string {
  return path
    .map((key, index) => {
      if (typeof key === "number") return `[${key}]`;
      if (!/^[\p{L}\p{N}_$-]+$/u.test(key)) return `[${JSON.stringify(key.slice(0, 80))}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join("");
}

/** All problems of a config, one line each. */
export class ConfigError extends ResourceError {
  readonly lines: readonly string[];

  constructor(file: string, lines: readonly string[]) {
    const [only, ...more] = lines;
    super(
      "invalid",
      more.length === 0 && only !== undefined
        ? only
        : `${file} has ${lines.length} problems\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.lines = lines;
  }
}
