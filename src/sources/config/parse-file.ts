/** Parses a configuration file: a short one here, a longer one in a thread, which does not block the server and has a time limit. */
import { ResourceError } from "../../errors.ts";
import { callInThread, ThreadOverrun } from "../../lib/threads.ts";
import { type ConfigFormat, parse } from "./formats.ts";
import { FormatError, type ConfigValue } from "./leaf.ts";

/** Parsing YAML of this length takes tens of milliseconds at most. */
const maxHere = 2 * 1024;

/** The result as it is sent between threads. */
type Answer =
  | { readonly leaves: readonly ConfigValue[] }
  | { readonly fault: { readonly line: number; readonly message: string } }
  | { readonly refusal: Pick<ResourceError, "kind" | "message"> };

/** Throws a FormatError if the text is not in this format, or takes too long to parse. */
export async function parseFile(text: string, format: ConfigFormat): Promise<readonly ConfigValue[]> {
  if (text.length <= maxHere) return parse(text, format);
  let answer: Answer;
  try {
    answer = await callInThread(new URL("./parse-file.ts", import.meta.url), "answerParse", text, format);
  } catch (cause) {
    if (cause instanceof ThreadOverrun) throw new FormatError(1, `parsing it takes ${cause.message}; make it smaller`);
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
