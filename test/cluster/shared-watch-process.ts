/**
 * One instance as a process: shares the watch of a folder, and prints lines of JSON: its id once it is armed, then each change.
 *
 *     node shared-watch-process.ts <folder> <database URL> [<bus URL>]
 */
import { serverCaller } from "../../src/resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import file from "../../src/sources/file.ts";
import { openSharedState } from "../../src/state/open-shared-state.ts";
import { shareWatch } from "../../src/watch/shared-watch.ts";

const [folder = "", state = "", bus] = process.argv.slice(2);
const runtime = createRuntime(process.stderr);
const shared = await openSharedState({ state, bus, runtime, version: "test" });
const opened = await file.open({ root: folder } as Parameters<typeof file.open>[0], runtime);
const source = shareWatch(opened, { mount: "notes", bus: shared.bus, leases: shared.leases, runtime });
const changes = await source.watch?.({ caller: serverCaller, signal: new AbortController().signal });
console.log(JSON.stringify({ instance: shared.instance }));
if (changes) for await (const change of changes) console.log(JSON.stringify(change));
