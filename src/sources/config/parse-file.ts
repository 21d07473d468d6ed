/** Reads the text of a configuration file: a short one here, a longer one in a thread, where it keeps no one waiting and is ended when it takes too long. */
import { ResourceError } from "../../errors.ts";
import { callInThread, ThreadOverrun } from "../../lib/threads.ts";
import { type ConfigFormat, parse } from "./formats.ts";
import { FormatError, type ConfigValue } from "./leaf.ts";

/** To parse YAML of this length takes some hundredths of a second at most. */
const maxHere = 2 * 1024;

/** What can be passed between threads. */
type Answer =
  | { readonly leaves: readonly ConfigValue[] }
  | { readonly fault: { readonly line: number; readonly message: string } }
  | { readonly refusal: Pick<ResourceError, "kind" | "message"> };

/** Throws a FormatError for a text that is not in this format, or that takes too long to read. */
export async function parseFile(text: string, format: ConfigFormat): Promise<readonly ConfigValue[]> {
  if (text.length <= maxHere) return parse(text, format);
  let answer: Answer;
  try {
    answer = await callInThread(new URL("./parse-file.ts", import.meta.url), "answerParse", text, format);
  } catch (cause) {
    if (cause instanceof ThreadOverrun) throw new FormatError(1, `to read it takes ${cause.message}; make it smaller`);
    throw cause;
  }
  if ("leaves" in answer) return answer.leaves;
  if ("fault" in answer) throw new FormatError(answer.fault.line, answer.fault.message);
  throw new ResourceError(answer.refusal.kind, answer.refusal.message);
}

/** Called in the thread. */
export async function answerParse(text: string, format: ConfigFormat): Promise<Answer> {
  try {
    return { leaves: await parse(text, format) };
  } catch (cause) {
    if (cause instanceof FormatError) return { fault: { line: cause.line, message: cause.message } };
    if (cause instanceof ResourceError) return { refusal: { kind: cause.kind, message: cause.message } };
    throw cause;
  }
}
