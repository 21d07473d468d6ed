/** What is wrong with a config: where, at which key, and what to do. */
import { ResourceError } from "../errors.ts";

export type KeyPath = readonly (string | number)[];

export interface TextPosition {
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly path: KeyPath;
  /** Follows the key, and never holds a value that came from a reference. */
  readonly message: string;
  /** Whether the key itself is wrong and not its value. */
  readonly atKey?: boolean;
  /** For an unknown key: the one that was probably meant. That it is missing is no second problem. */
  readonly meant?: KeyPath;
  /** Whether a rule about several values says so, and not the declaration of one. */
  readonly isOfSeveral?: boolean;
  /** Where the text says so itself; otherwise it is looked up by the path. */
  readonly place?: TextPosition;
}

/** `pressmark.config.yaml:4:5 mounts.docs.rot: unknown option; did you mean "root"?` */
export function problemLine(file: string, { path, message }: Problem, place: TextPosition | undefined): string {
  const where = place ? `${file}:${place.line}:${place.column}` : file;
  return path.length === 0 ? `${where}: ${message}` : `${where} ${formatPath(path)}: ${message}`;
}

/** Without those that are only the other side of another, in the order of the text. */
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

/** `mounts.docs.roots[2]`; what is no plain name stands in brackets. */
export function formatPath(path: KeyPath): string {
  return path
    .map((key, index) => {
      if (typeof key === "number") return `[${key}]`;
      if (!/^[\p{L}\p{N}_$-]+$/u.test(key)) return `[${JSON.stringify(key.slice(0, 80))}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join("");
}

/** All that is wrong, one line each. */
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
