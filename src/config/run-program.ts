/** What a program of the person's own exports: a config, or a source. */
import { pathToFileURL } from "node:url";
import { sha256 } from "./trust.ts";

/** Why it could not be run, in one line. */
export class ProgramError extends Error {}

/** The default of a module, run anew when its bytes are others than before: they are part of its address. */
export async function runProgram(file: string, bytes: Uint8Array): Promise<unknown> {
  const address = `${pathToFileURL(file).href}?${sha256(bytes).slice(0, 16)}`;
  try {
    const exported = (await import(/* @vite-ignore */ address)) as Readonly<Record<string, unknown>>;
    return await exported["default"];
  } catch (cause) {
    const [why = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new ProgramError(`failed while it ran: ${why.slice(0, 300)}`);
  }
}
