/** A filled Drive, and the synchronisation of a ledger with it, for tests. */
import { createRuntime } from "../../server/runtime.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { createDriveApi, type DriveApi, type DriveApiOptions } from "./drive-api.ts";
import type { Ledger } from "./ledger.ts";
import { createSync, type Sync, type SyncOptions } from "./sync.ts";

export const shortcutType = "application/vnd.google-apps.shortcut";

export interface TestSync {
  readonly fake: FakeDrive;
  api(more?: Partial<DriveApiOptions>): DriveApi;
  sync(ledger: Ledger, more?: Partial<SyncOptions>): Sync;
  /** Id → title and version of every existing file. */
  truth(): Readonly<Record<string, string>>;
  build(): void;
  /** Makes one change of every kind. */
  stir(): void;
}

const runtime = createRuntime({ write: () => true });

export async function startTestSync(): Promise<TestSync> {
  const fake = await startFakeDrive();
  const api = (more: Partial<DriveApiOptions> = {}): DriveApi =>
    createDriveApi({
      rootUrl: fake.rootUrl,
      identity: undefined,
      withPermissions: false,
      timeoutMs: 5000,
      patienceMs: 0,
      runtime,
      ...more,
    });
  return {
    fake,
    api,
    sync: (ledger, more = {}) =>
      createSync({ api: api(), ledger, runtime, myDrive: true, drives: "all", withPermissions: false, ...more }),
    truth: () =>
      Object.fromEntries(
        [...fake.store.files.values()]
          .filter(({ isTrashed, mimeType }) => !isTrashed && !mimeType.endsWith(".folder"))
          .map(({ id, name, version }) => [id, `${name} ${version}`] as const)
          .sort(),
      ),
    build() {
      fake.addDrive("team", "Team");
      fake.folder("f", "F");
      for (const id of ["a", "b", "c"]) fake.document(id, id, { name: id, parent: "f" });
      fake.put("t1", { content: "1", name: "t1", driveId: "team" });
      fake.put("t2", { content: "2", name: "t2", driveId: "team" });
    },
    stir() {
      fake.document("a", "edited");
      fake.put("b", { name: "renamed" });
      fake.remove("c");
      fake.put("t1", { driveId: undefined, parent: "f" });
      fake.trash("t2");
      fake.put("new", { content: "new", name: "new", driveId: "team" });
      fake.addDrive("later", "Later");
      fake.put("l1", { content: "x", name: "l1", driveId: "later" });
    },
  };
}

/** The same for the files in the ledger. */
export function known(ledger: Ledger): Readonly<Record<string, string>> {
  return Object.fromEntries(ledger.files("", 1000).map(({ id, name, version }) => [id, `${name} ${version}`]));
}
