/** Finds the settings of a file that are secrets, by their names and values. */
import { isPlaceholder } from "../../lib/looks-random.ts";
import { findSecrets } from "../../lib/secrets.ts";
import type { ConfigValue } from "./leaf.ts";
import { formatName } from "./leaf.ts";

export interface SecretSetting {
  readonly name: string;
  /** Must never be shown. */
  readonly value: string;
  /** Counted from 1. */
  readonly line: number;
}

/** People choose passwords themselves, so these need not look random. */
const passwordName = /passw|passphrase|pwd/i;
const keyName = /secret|credential|(?:api|access|private|signing|encryption|master)[_.-]?key$|(?:^|[_.-])token$/i;
/** Shorter values would match in any text. */
const shortest = 6;

export function secretSettings(leaves: readonly ConfigValue[]): readonly SecretSetting[] {
  return leaves.flatMap(({ path, value, line }) =>
    typeof value === "string" && isSecret(String(path.findLast((each) => typeof each === "string") ?? ""), value)
      ? [{ name: formatName(path), value, line }]
      : [],
  );
}

function isSecret(key: string, value: string): boolean {
  if (value.length < shortest || isPlaceholder(value)) return false;
  if (passwordName.test(key)) return true;
  if (keyName.test(key) && /\d/.test(value) && !/\s/.test(value)) return true;
  return findSecrets(value).length > 0 || findSecrets(`${key}=${value}`).length > 0;
}
