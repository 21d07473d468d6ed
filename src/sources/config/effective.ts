/** Determines which file or variable sets each value, and which others it overrides. */
import { ResourceError } from "../../errors.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { SettingFact, SettingFacts } from "./facts.ts";
import type { ConfigFiles } from "./files.ts";
import { formatName } from "./leaf.ts";

export interface EnvironmentValue {
  readonly name: string;
  readonly value: string;
}

interface EffectiveOptions {
  readonly files: ConfigFiles;
  readonly facts: SettingFacts;
  /** File paths and "env", in order of precedence. Files that are not named are ignored. */
  readonly precedence: readonly string[];
  /** Environment variable → the name in files that it overrides. */
  readonly variables: Readonly<Record<string, string>>;
}

interface Decided extends SettingFact {
  /** The overridden values, in order of precedence. */
  readonly overrides?: readonly Omit<SettingFact, "name">[];
}

export interface Effective {
  readonly precedence: readonly string[];
  readonly values: readonly Decided[];
  /** Files in the order of precedence that could not be read. */
  readonly broken?: readonly { readonly file: string; readonly says: string }[];
}

export function createEffective({ files, facts, precedence, variables }: EffectiveOptions) {
  const standsFor = new Map(Object.entries(variables));
  const nameOf = (variable: string) => standsFor.get(variable) ?? variable;

  return async function effective(environment: readonly EnvironmentValue[]): Promise<Effective> {
    const byName = new Map<string, SettingFact[]>();
    const broken: { file: string; says: string }[] = [];
    const turn = createTimeSlices();
    const add = (name: string, fact: SettingFact): void => {
      const known = byName.get(name);
      if (known) known.push(fact);
      else byName.set(name, [fact]);
    };
    for (const each of precedence) {
      if (each === "env")
        for (const { name, value } of environment) {
          const fileName = nameOf(name);
          add(fileName, facts.of(fileName, value, { variable: name }));
        }
      const file = files.all.find(({ path }) => path === each);
      if (!file) continue;
      try {
        for (const { path, value, line } of await files.read(file)) {
          const formatted = formatName(path);
          const name = file.format === "dotenv" ? nameOf(formatted) : formatted;
          add(name, facts.of(name, value, { file: file.path, line }));
          await turn();
        }
      } catch (cause) {
        if (!(cause instanceof ResourceError)) throw cause;
        // A missing file sets nothing.
        if (cause.kind !== "not-found") broken.push({ file: file.path, says: cause.message });
      }
    }
    const values = [...byName.values()].map(([first, ...others]): Decided => {
      const overrides = others.map(({ name: _name, ...rest }) => rest);
      return { ...(first as SettingFact), ...(overrides.length > 0 && { overrides }) };
    });
    values.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return { precedence, values, ...(broken.length > 0 && { broken }) };
  };
}
