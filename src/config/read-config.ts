/** Reads the bytes of a config, and its values: parsed, or exported by a program. */
import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { ResourceError } from "../errors.ts";
import { type ParsedText, parseText } from "./parse-text.ts";
import { ConfigError, problemLine } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import { ProgramError, runProgram } from "./run-program.ts";

const maxBytes = 1024 * 1024;

/** `label` is the file's name in errors. */
export function readConfig(file: string, label: string): Uint8Array {
  const refusal = (why: string) => new ConfigError(label, [`${label}: ${why}`]);
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw refusal("is not a file; name the config file itself");
    if (stats.size > maxBytes) throw refusal(`is larger than ${maxBytes} bytes, the limit for a config`);
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    const isAbsent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw refusal(isAbsent ? "no such file; check the path" : "cannot be read; check its permissions");
  }
}

export async function parseConfig(file: string, bytes: Uint8Array, label: string): Promise<ParsedText> {
  const answer = await parseText(new TextDecoder().decode(bytes), extname(file) === ".json" ? "json" : "yaml");
  if ("value" in answer) return answer;
  throw new ConfigError(
    label,
    answer.problems.map((problem) => problemLine(label, problem, problem.place)),
  );
}

export async function runConfig(file: string, bytes: Uint8Array, label: string): Promise<ParsedText> {
  const value = await runProgram(file, bytes).catch((cause: unknown) => {
    throw cause instanceof ProgramError ? new ConfigError(label, [`${label}: ${cause.message}`]) : cause;
  });
  if (!isPlainObject(value)) throw new ConfigError(label, [`${label}: must export the config as its default export`]);
  return { value, place: () => undefined };
}
