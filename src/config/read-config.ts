/** The bytes of a config, and the values in them: parsed, or what a program exports. */
import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { ResourceError } from "../errors.ts";
import { type ParsedText, parseText } from "./parse-text.ts";
import { ConfigError, problemLine } from "./problem.ts";
import { isPlainObject } from "./references.ts";
import { ProgramError, runProgram } from "./run-program.ts";

const maxBytes = 1024 * 1024;

/** `label` is the file as errors name it. */
export function readConfig(file: string, label: string): Uint8Array {
  const refusal = (why: string) => new ConfigError(label, [`${label}: ${why}`]);
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw refusal("is no file; name the config itself");
    if (stats.size > maxBytes) throw refusal(`has more than ${maxBytes} bytes, which no config needs`);
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    const isAbsent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw refusal(isAbsent ? "there is no such file; check the spelling" : "cannot be read; check its permissions");
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
  if (!isPlainObject(value)) throw new ConfigError(label, [`${label}: must export the config as its default`]);
  return { value, place: () => undefined };
}
