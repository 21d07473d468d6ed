/** The changes that a watch reports. */
import { directoryType } from "../../resources.ts";
import { directoriesOf } from "../contract-content.ts";
import { expectExcludes, expectIncludes, expectTrue, show } from "../expectations.ts";
import { formatChange } from "../listen.ts";
import { addressesOf } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";
import { createWatching } from "./watched.ts";

export function testWatch(context: ContractContext): void {
  const {
    aFile,
    aWritten,
    call,
    can,
    childrenOf,
    inside,
    lacks,
    listAll,
    method,
    parents,
    remove,
    rename,
    settled,
    setup,
    source,
    stat,
    write,
  } = context;
  const { begin, expectReported, test } = createWatching(context);

  test("resolves when the watch is active: no later change is missed", async () => {
    await expectReported(await begin());
  });

  test(
    "reports that something appeared, and that many things did",
    async () => {
      const watched = await begin();
      const names = ["new.txt", "docs/new.txt", "names/新しい ファイル?#%.txt", "fresh/directory/new.txt"];
      const paths: string[] = [];
      for (const name of names) paths.push(await write(inside + name, name));
      for (const path of paths) await watched.until("appeared", path);
    },
    lacks("write"),
  );

  test(
    "reports that something is gone",
    async () => {
      const watched = await begin();
      await watched.until("gone", await remove(aWritten));
    },
    lacks("remove"),
  );

  test(
    "reports a rename as one path gone and another appeared",
    async () => {
      const watched = await begin();
      const renamed = await rename(aWritten, `${inside}renamed.txt`);
      await watched.until("gone", aFile);
      await watched.until("appeared", renamed);
    },
    lacks("rename"),
  );

  test(
    "reports directories that appear or go, unless they exist only through what is below them",
    async () => {
      if (source().impliesDirectories || source().follow) return;
      const written = `${inside}new-directory/deeper/new.txt`;
      const directories = await filtered(directoriesOf([context.addressOf(written)]), isMissing);
      const watched = await begin();
      await write(written, "in a new directory");
      for (const path of await filtered(directories, exists)) await watched.until("appeared", path);
      await remove(written);
      for (const path of await filtered(directories, isMissing)) await watched.until("gone", path);
    },
    can("stat") && can("children") ? lacks("write", "remove") : "the source has no `stat` or no `children`",
  );

  test(
    "says rightly what goes with a resource that has children",
    async () => {
      const written = Object.keys(context.content).filter((each) => parents.includes(context.addressOf(each)));
      const watched = await begin();
      for (const each of written) {
        const path = await remove(each);
        await watched.until("gone", path);
        for (const change of watched.changes) {
          if (change.kind !== "gone" || change.path !== path || change.eachBelow) continue;
          for (const below of addressesOf(await listAll()).filter((other) => other.startsWith(`${path}/`)))
            throw new Error(
              `the watch reported \`gone ${path}\` without \`eachBelow\`, but ${show(below)} still exists`,
            );
        }
      }
    },
    lacks("remove"),
  );

  test("reports nothing that did not happen", async () => {
    const before = await existing();
    const watched = await begin();
    const made = setup.write && setup.remove ? await write(`${inside}made.txt`, "made") : undefined;
    if (made !== undefined) {
      await watched.until("appeared", made);
      await remove(`${inside}made.txt`);
      await watched.until("gone", made);
    }
    // A wrong report can follow a right one: the report of the second change shows that there is no more about the first.
    for (let time = 0; time < 2; time += 1) await expectReported(watched);
    const after = await existing();
    if (!setup.reportedAsLost?.length)
      expectTrue(
        watched.changes.every(({ kind }) => kind !== "lost"),
        "the watch reported `lost`, and nothing was lost; if the backend does not name what changes, the setup needs `reportedAsLost`",
      );
    for (const change of watched.changes) {
      if (change.kind === "lost" || "isUnlisted" in change || change.path === made) continue;
      const { kind, path } = change;
      if (source().lists?.({ path }) === false) continue;
      const about = `the watch reported \`${formatChange(change)}\`, but ${show(path)}`;
      if (kind === "gone") expectTrue(before.has(path), `${about} never existed`);
      if (kind === "appeared") expectTrue(!before.has(path), `${about} existed before`);
      const isThere = after.has(path) || (can("stat") && (await exists(path)));
      expectTrue(isThere === (kind !== "gone"), `${about} ${isThere ? "still exists" : "does not exist"}`);
    }
  });

  test(
    "reports only listed paths and directories, unless `lists` says otherwise; a change says rightly that the list stays the same",
    async () => {
      const watched = await begin();
      const paths = [await write(`${inside}told.txt`, "told"), await write(`${inside}told/deeper/new.txt`, "told")];
      await write(aWritten, "told");
      for (const path of paths) await watched.until("appeared", path);
      await watched.until("changed", aFile);
      const listed = addressesOf(await listAll());
      for (const change of watched.changes) {
        if (change.kind === "lost" || change.kind === "gone") continue;
        const { path } = change;
        if ("isUnlisted" in change)
          expectExcludes(listed, [path], `\`${formatChange(change)}\` was reported as not listed, and the list`);
        const entry = await stat({ path }).catch(() => undefined);
        if (!entry || entry.mimeType === directoryType || source().lists?.({ path }) === false) continue;
        expectIncludes(listed, [path], `the list after the report \`${formatChange(change)}\``);
      }
    },
    can("stat") ? lacks("write") : "the source has no `stat`",
  );

  test(
    "shows what another watch of the backend has reported, and resolves whatever is reported",
    async () => {
      if (!source().noteChanges) return;
      const note = method("noteChanges");
      await listAll();
      const path = await write(`${inside}noted.txt`, "noted");
      await settled(note([{ kind: "appeared", path }], call()), "noteChanges");
      expectIncludes(addressesOf(await listAll()), [path], "the list after `noteChanges`");
      await settled(note([{ kind: "gone", path: "never/existed" }, { kind: "lost" }], call()), "noteChanges");
      await settled(note([], { ...call(), signal: AbortSignal.abort() }), "noteChanges with an aborted signal");
    },
    lacks("write"),
  );

  test(
    "`stateOf` differs after a change, or is 0",
    async () => {
      const watched = await begin();
      const states = new Set<number>();
      for (let time = 0; time < 3; time += 1) {
        await expectReported(watched);
        const state = watched.watch.stateOf?.(aFile) ?? 0;
        expectTrue(state === 0 || !states.has(state), `\`stateOf\` of ${show(aFile)} is ${state} again after a change`);
        states.add(state);
      }
    },
    setup.change ? "the setup changes another path" : lacks("write"),
  );

  /** Everything that is listed or that `children` reaches, as far as that is not too much. */
  async function existing(): Promise<ReadonlySet<string>> {
    const listed = addressesOf(await listAll());
    const found = new Set(["", ...listed, ...directoriesOf(listed)]);
    const ahead = can("children") ? [""] : [];
    let visited = 0;
    for (let path = ahead.pop(); path !== undefined && visited < maxDirectories; path = ahead.pop(), visited += 1)
      for (const entry of await childrenOf(path)) {
        found.add(entry.path);
        if (entry.mimeType === directoryType || entry.hasChildren) ahead.push(entry.path);
      }
    return found;
  }

  async function isMissing(path: string): Promise<boolean> {
    return !(await exists(path));
  }

  async function exists(path: string): Promise<boolean> {
    return stat({ path }).then(
      () => true,
      () => false,
    );
  }
}

const maxDirectories = 300;

async function filtered(paths: readonly string[], passes: (path: string) => Promise<boolean>): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if (await passes(path)) found.push(path);
  return found;
}
