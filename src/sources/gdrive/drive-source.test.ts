import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../../errors.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { Source } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { sweepFaults } from "../../testing/faults.ts";
import { asking, collect } from "../../testing/pages.ts";
import gdrive from "../gdrive.ts";
import { createDriveApi, type DriveApi } from "./drive-api.ts";
import { createDriveSource } from "./drive-source.ts";
import { openLedger } from "./ledger.ts";

const call = { caller: { id: "owner@example.org" }, signal: new AbortController().signal };
const runtime = createRuntime({ write: () => true });

const listed = async (source: Source) =>
  (await collect((cursor) => source.list(asking(1, cursor), call))).map(({ path }) => path);

const request = async (source: Source): Promise<void> => {
  expect(await listed(source)).toEqual(["file/by-link", "file/d", "file/n"]);
  const children = await collect((cursor) => source.children!({ path: "folder/f" }, asking(1, cursor), call));
  expect(children.map(({ path }) => path)).toEqual(["file/by-link", "file/d"]);
  await source.stat!({ path: "folder/f" }, call);
  expect(await source.read({ path: "file/d" }, call)).toMatchObject([{ body: { text: "# One\n\ntwo\n" } }]);
  await source.read({ path: "file/n", query: { lines: "2-2" } }, call);
  await source.read({ path: "file/s" }, call);
  await source.read({ path: "search", query: { q: "two" } }, call);
  const [template] = source.templates!;
  await source.complete!({ template: template!, variable: "id", value: "doc", given: {} }, call);
  await source.problems!(call);
  const stop = new AbortController();
  await source.watch!({ ...call, signal: stop.signal });
  stop.abort();
};

let fake: FakeDrive;
beforeEach(async () => {
  fake = await startFakeDrive();
});
afterEach(() => fake.close());

it("returns or throws a ResourceError when any request to Drive fails, and works again afterwards", async () => {
  fake.addDrive("team", "Team");
  fake.folder("f", "F");
  fake.document("d", "# One\n\ntwo\n", { name: "Document", parent: "f" });
  fake.put("n", { name: "notes.txt", content: "one\ntwo\n", driveId: "team" });
  fake.put("s", { mimeType: "application/vnd.google-apps.shortcut", target: "by-link", parent: "f" });
  fake.put("by-link", { content: "linked", owner: "x@example.org", permissions: [{ type: "anyone" }] });
  fake.exportLimit = 5;
  const rest = { identity: undefined, withPermissions: true, timeoutMs: 5000, patienceMs: 0 };
  const parsed = gdrive.options(z).parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl, access: "drive" });

  const world = { ...runtime, wait: async () => undefined };
  const open = async (api: DriveApi): Promise<Source> => {
    const ledger = await openLedger({ file: undefined, folders: [] });
    return createDriveSource(parsed, { api, patientApi: api, ledger, runtime: world });
  };
  let source: Source | undefined;
  let faults = 0;
  const failed = await sweepFaults({
    open: () => createDriveApi({ ...rest, rootUrl: fake.rootUrl, runtime: world }),
    async run(api) {
      source = await open(api);
      await request(source);
    },
    async recovered() {
      expect(await listed(source!)).toEqual(["file/by-link", "file/d", "file/n"]);
      await source!.read({ path: "file/d" }, call);
      await source!.close?.();
    },
    faults: [() => new ResourceError((faults += 1) % 2 === 0 ? "denied" : "unavailable", "Drive is gone, or refuses")],
  });
  expect(failed).toBeGreaterThan(25);
});
