/** A server with a Drive mount, for tests: it polls when the test says so. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openPolicy } from "../../access/policy.ts";
import { withStandardLayers } from "../../layers/standard.ts";
import type { Call, Resources } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import { createServerIndex, type ServerIndex } from "../../server/server-index.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { SourceDefinition, Runtime } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import gdrive, { type DriveSourceOptions } from "../gdrive.ts";

export interface TestServer {
  readonly fake: FakeDrive;
  readonly resources: Resources;
  /** Present if requested. */
  readonly index: ServerIndex | undefined;
  /** Ends the polling interval. */
  poll(): void;
  close(): Promise<void>;
}

const pollMs = 123_456;
const { signal } = new AbortController();
const runtime = createRuntime({ write: () => true });

export const as = (id: string, groups: readonly string[] = []): Call => ({ caller: { id, groups }, signal });

/** Access as Drive permits it. */
export const judged = { access: "drive", callers: { local: "alice@example.org" } } as const;

export async function openTestServer(
  build: (fake: FakeDrive) => void,
  { isIndexed = false, ...options }: Partial<DriveSourceOptions> & { readonly isIndexed?: boolean } = {},
): Promise<TestServer> {
  const fake = await startFakeDrive();
  build(fake);
  const { world, poll } = createWorld();
  const parsed = gdrive.options(z).parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl });
  const whole = { ...parsed, pollMs, ...options };
  const opened = await gdrive.open(whole, world);
  const source = withStandardLayers(opened, { name: "drive" }, runtime);
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
  const index = isIndexed
    ? createServerIndex({ cacheFolder: folder, project: { folders: ["drive"] }, runtime, live: true })
    : undefined;
  index?.serve([{ name: "drive", source, definition: gdrive as SourceDefinition, options: whole }], {});
  const mounts = [{ name: "drive", base: "gdrive://", source }];
  const resources = createResources({
    mounts,
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
    ...(index && { index }),
  });
  await index?.caughtUp({ signal });
  return {
    fake,
    resources,
    index,
    poll,
    async close() {
      await index?.close();
      await resources.close();
      await opened.close?.();
      await fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A real runtime, except for the wait between two polls. */
function createWorld(): { readonly world: Runtime; poll(): void } {
  let next = Promise.withResolvers<void>();
  let passedMs = 0;
  return {
    poll() {
      passedMs += pollMs;
      next.resolve();
      next = Promise.withResolvers();
    },
    world: {
      ...runtime,
      now: () => runtime.now() + passedMs,
      monotonicMs: () => runtime.monotonicMs() + passedMs,
      wait: (ms, stop) =>
        ms === pollMs
          ? Promise.race([
              next.promise,
              new Promise<never>((_, reject) =>
                stop.addEventListener("abort", () => reject(stop.reason), { once: true }),
              ),
            ])
          : runtime.wait(ms, stop),
    },
  };
}
