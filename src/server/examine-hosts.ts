/** Checks whether installed hosts have a working entry for Pressmark, and asks them where they can say. */
import { existsSync } from "node:fs";
import { connectionOf } from "../config/hosts/entry-formats.ts";
import { installStep, wrongWith } from "../config/hosts/connection.ts";
import type { HostFile } from "../config/hosts/hosts.ts";
import { type HostEntry, readEntry } from "../config/hosts/settings.ts";
import { ResourceError } from "../errors.ts";
import { askHost, type HostAnswer } from "./ask-host.ts";
import type { CheckResult } from "./examine.ts";
import type { InstalledHosts } from "./installed-hosts.ts";

interface Looked {
  readonly file: HostFile;
  readonly entry?: HostEntry;
  readonly problem?: string;
}

/** One result per installed host, or two if one of its files is broken. */
export async function examineHosts(
  { files, here }: Pick<InstalledHosts, "files" | "here">,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const titles = [...new Set(files.map(({ title }) => title))];
  const results = await Promise.all(
    titles.map(async (title): Promise<CheckResult[]> => {
      const looked = files.filter((file) => file.title === title && existsSync(file.sign)).map(look);
      const [first] = looked;
      if (!first) return [];
      const wrong = looked.flatMap((each) => problemsOf(each, here));
      if (wrong.length > 0) return wrong;
      const known = looked.filter(({ entry }) => entry).map(({ file }) => file);
      if (known.length === 0)
        return [{ about: title, state: "hint", says: "has no entry for Pressmark", advice: addCommand(first.file) }];
      const answer = await askHost(first.file, { ...here, signal });
      return [resultOf(title, known, answer)];
    }),
  );
  return results.flat();
}

function problemsOf({ file, entry, problem }: Looked, here: InstalledHosts["here"]): CheckResult[] {
  const { title: about } = file;
  if (problem !== undefined) return [{ about, state: "broken", says: problem }];
  const wrong = entry && wrongWith(entry, file.scope, here);
  if (!wrong) return [];
  const [command = "", ...args] = connectionOf(entry).words ?? [];
  const install = file.scope === "project" ? installStep({ kind: "stdio", command, args }, here) : undefined;
  const advice = wrong.isForeign
    ? `do not approve it in ${about} unless you know who wrote it, and why`
    : (install ?? addCommand(file));
  return [{ about, state: wrong.isDoubt ? "hint" : "broken", says: `${file.file} ${wrong.says}`, advice }];
}

/** What a host says is never more than a hint: it may be about a moment, or misunderstood. */
function resultOf(about: string, known: readonly HostFile[], answer: HostAnswer | undefined): CheckResult {
  const where = known.map(({ file }) => file).join(", ");
  const remains = known.find((file) => file.remains !== undefined)?.remains;
  const query = known[0]?.query;
  // Not known to be done if the host was not asked.
  const unknown = remains === undefined ? undefined : `if not done yet: ${remains}`;
  const hint = (says: string, advice = remains): CheckResult => ({
    about,
    state: "hint",
    says: `${says}: ${where}`,
    ...(advice !== undefined && { advice }),
  });
  switch (answer) {
    case "pending":
      return hint("its entry for Pressmark is pending approval");
    case "missing":
      return hint("does not use its entry for Pressmark; the project may not be trusted yet");
    case "disabled":
      return hint(
        `its entry for Pressmark is disabled${remains === undefined ? "" : "; the project may not be trusted yet"}`,
      );
    case "too-old":
      return hint(
        `was not asked about its entry for Pressmark, because ${query?.program} ${query?.since} or newer was not found`,
        unknown,
      );
    case "signed-out":
      return hint("must sign in to use its entry for Pressmark", `sign in from ${about}`);
    case "failed":
      return hint(
        "cannot connect to Pressmark",
        'start the server with "pressmark serve", or run the command of the entry by hand',
      );
    default:
      return {
        about,
        state: "ok",
        says: `has an entry for Pressmark${answer === "connected" ? " and connects" : ""}: ${where}`,
        ...(answer === undefined && unknown !== undefined && { advice: unknown }),
      };
  }
}

function look(file: HostFile): Looked {
  try {
    const entry = readEntry(file);
    return { file, entry };
  } catch (cause) {
    if (!(cause instanceof ResourceError)) throw cause;
    return { file, problem: cause.message };
  }
}

function addCommand({ host, scope, removal }: HostFile): string {
  if (removal !== undefined) return `run "${removal}" in the project, then pressmark add ${host}`;
  return `pressmark add ${host}${scope === "user" ? " --scope user" : ""}`;
}
