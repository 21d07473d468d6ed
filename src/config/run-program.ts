/** Runs a user's program and returns its default export: a config, or a source. */
import { pathToFileURL } from "node:url";
import { sha256 } from "./trust.ts";

/** Why it failed, in one line. */
export class ProgramError extends Error {}

/** The default export of a module. Runs it again when its bytes change, because they are part of the import URL. */
export async function runProgram(file: string, bytes: Uint8Array): Promise<unknown> {
  const address = `${pathToFileURL(file).href}?${sha256(bytes).slice(0, 16)}`;
  try {
    const exported = (await import(/* @vite-ignore */ address)) as Readonly<Record<string, unknown>>;
    return await exported["default"];
  } catch (cause) {
    const [why = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new ProgramError(`failed to run: ${why.slice(0, 300)}`);
  }
}
