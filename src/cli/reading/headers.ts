/** The flag `--header`: HTTP headers for another server. References keep secrets out of the shell's history. */
import { quote } from "../../errors.ts";
import { UsageError, type CommandContext } from "../command.ts";

const name = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Each is `Name: value`. A value may contain `${env:NAME}` and `${file:path}`; `@path` reads the whole value from a file. */
export async function readHeaders(
  words: readonly string[],
  { env, folder }: Pick<CommandContext, "env" | "folder">,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (words.length === 0) return headers;
  const { resolveReferences } = await import("../../config/references.ts");
  for (const word of words) {
    const colon = word.indexOf(":");
    const called = word.slice(0, Math.max(0, colon)).trim();
    if (!name.test(called))
      throw new UsageError(`--header takes a name and a value, as in 'Authorization: Bearer \${env:TOKEN}'`);
    const written = word.slice(colon + 1).trim();
    const reference = written.startsWith("@") ? `\${file:${written.slice(1)}}` : written;
    const { value, problems } = resolveReferences(reference, { env, folder, mayResolve: () => true });
    const [problem] = problems;
    if (problem) throw new UsageError(`--header ${quote(called, 40)}: ${problem.message}`);
    headers[called] = checked(String(value).trim(), called);
  }
  return headers;
}

/** Errors never contain the value, which may be a secret. */
function checked(value: string, called: string): string {
  if (value === "")
    throw new UsageError(
      `--header ${quote(called, 40)} has no value; put it in single quotes, so that the shell does not expand \${env:NAME}`,
    );
  if (!/^[\t\x20-\x7e\x80-\xff]+$/.test(value))
    throw new UsageError(`--header ${quote(called, 40)} has a value with characters that are not allowed in a header`);
  return value;
}
