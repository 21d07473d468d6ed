/** Checks the index that the instances share: how far the running instances have indexed each mount, and why not further. */
import { openPostgresIndexStore } from "../search/postgres/postgres-index-store.ts";
import { readPublished } from "../search/shared-status.ts";
import type { MountStatus } from "../search/status.ts";
import { toResourceError } from "../errors.ts";
import { readMigrations } from "../state/migrate.ts";
import { isContract } from "../state/migrations.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { CheckResult } from "./examine.ts";
import { sharedMigrations } from "./shared-migrations.ts";

const about = "index";

/** `searched` names the mounts of this config that are searched. */
export async function examineSharedIndex(
  { database, store }: Pick<SharedState, "database" | "store">,
  searched: readonly string[],
): Promise<CheckResult> {
  try {
    const { pending } = await readMigrations(database, sharedMigrations);
    if (pending.some((each) => !isContract(each)))
      return { about, state: "ok", says: "in the shared database; the first instance creates its tables" };
    const [published, counts] = await Promise.all([
      readPublished(store),
      openPostgresIndexStore({ database }).counts(),
    ]);
    const mounts = searched.map((name) => ({ name, status: published.find((each) => each.name === name) }));
    const documents = counts
      .filter(({ mount }) => searched.includes(mount))
      .reduce((sum, count) => sum + count.documents, 0);
    const incomplete = mounts.filter(({ status }) => status?.ready !== 1);
    const complete = `${mounts.length - incomplete.length} of ${mounts.length} mounts complete`;
    const says = [
      `in the shared database, schema ${database.schema}: ${complete}, ${documents} documents`,
      ...incomplete.map(({ name, status }) => `${name}: ${progressOf(status)}`),
    ].join("\n");
    if (!incomplete.some(({ status }) => status?.lastError !== undefined)) return { about, state: "ok", says };
    return { about, state: "hint", says, advice: "see the log of the instances; what failed is retried" };
  } catch (cause) {
    return { about, state: "broken", says: toResourceError(cause).message };
  }
}

function progressOf(status: MountStatus | undefined): string {
  if (!status) return "no running instance indexes it";
  const { state, ready, lastError } = status;
  return `${state}, ${Math.floor(ready * 100)} %${lastError === undefined ? "" : `: ${lastError}`}`;
}
