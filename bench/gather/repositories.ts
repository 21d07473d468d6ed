/** Chooses the repositories to measure on. Those of one group are for choosing weights, the others measure what was chosen. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

export interface MeasuredRepository {
  readonly name: string;
  readonly folder: string;
  /** Newest commit that may be asked for. */
  readonly until: string;
  /** Folder whose files are served, with a slash at its end; default: all. */
  readonly below?: string;
  readonly group?: "tuning" | "held-out";
}

const tuning = ["unstorage", "httpx", "cobra"];
/** Newest commit of this repository that is asked for, so that the figures stay the same when commits are added. */
const ownUntil = "6e437d0a12f436a103b3476e2dab2d59da206993";

/** Undefined if this repository's history is not here, as in a shallow clone. */
export function ownRepository(): MeasuredRepository | undefined {
  const folder = resolve(import.meta.dirname, "../..");
  try {
    const isShallow = git(folder, "rev-parse", "--is-shallow-repository");
    git(folder, "cat-file", "-e", `${ownUntil}^{commit}`);
    return isShallow === "true" ? undefined : { name: "pressmark", folder, until: ownUntil };
  } catch {
    return undefined;
  }
}

/** Clones the bundles in `repositories` below a folder. */
export function cloneBundles(
  corpora: string,
  isWanted: (repository: Pick<MeasuredRepository, "name" | "group">) => boolean,
): { readonly repositories: readonly MeasuredRepository[]; close(): void } {
  const bundles = join(resolve(corpora), "repositories");
  if (!existsSync(bundles)) throw new Error(`there is no folder ${bundles}`);
  const scratch = mkdtempSync(join(tmpdir(), "pressmark-corpora-"));
  const repositories = readdirSync(bundles)
    .filter((file) => file.endsWith(".bundle"))
    .map((file) => basename(file, ".bundle"))
    .map((name) => ({ name, group: tuning.includes(name) ? ("tuning" as const) : ("held-out" as const) }))
    .filter(isWanted)
    .toSorted((left, right) => Number(left.group === "held-out") - Number(right.group === "held-out"))
    .map(({ name, group }) => {
      const folder = join(scratch, name);
      execFileSync("git", ["clone", "--quiet", "--bare", join(bundles, `${name}.bundle`), folder]);
      return { name, folder, until: "HEAD", group };
    });
  return { repositories, close: () => rmSync(scratch, { recursive: true, force: true }) };
}

export function repositoryAt(folder: string): MeasuredRepository {
  const name = basename(resolve(folder)).replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  return { name, folder: resolve(folder), until: "HEAD" };
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}
