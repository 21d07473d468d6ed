/** A Drive behind a house, for tests: it is looked at again when the test says so. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openPolicy } from "../../access/policy.ts";
import { withStandardLayers } from "../../layers/standard.ts";
import type { Call, Resources } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import { createKeptIndex, type KeptIndex } from "../../server/search/kept-index.ts";
import { createTools } from "../../server/tools.ts";
import type { SourceDefinition, Tools } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import gdrive, { type DriveSourceOptions } from "../gdrive.ts";

export interface TestHouse {
  readonly fake: FakeDrive;
  readonly resources: Resources;
  /** Where it was asked for. */
  readonly index: KeptIndex | undefined;
  /** The time between two looks at Drive is over. */
  poll(): void;
  close(): Promise<void>;
}

const pollMs = 123_456;
const { signal } = new AbortController();
const tools = createTools({ write: () => true });

export const as = (id: string, groups: readonly string[] = []): Call => ({ caller: { id, groups }, signal });

/** Who sees what as Drive says it, where that is asked for. */
export const judged = { access: "drive", callers: { local: "alice@example.org" } } as const;

export async function openTestHouse(
  furnish: (fake: FakeDrive) => void,
  { isIndexed = false, ...options }: Partial<DriveSourceOptions> & { readonly isIndexed?: boolean } = {},
): Promise<TestHouse> {
  const fake = await startFakeDrive();
  furnish(fake);
  const { world, poll } = createWorld();
  const parsed = gdrive.options(z).parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl });
  const whole = { ...parsed, pollMs, ...options };
  const opened = await gdrive.open(whole, world);
  const source = withStandardLayers(opened, { name: "drive" }, tools);
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
  const index = isIndexed
    ? createKeptIndex({ folder, tools, maxFileBytes: 1024 ** 2, maxBytes: 1024 ** 3 })
    : undefined;
  index?.serve([{ name: "drive", source, definition: gdrive as SourceDefinition, options: whole }]);
  const mounts = [{ name: "drive", base: "gdrive://", source }];
  const resources = createResources({
    mounts,
    policy: openPolicy,
    tools,
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

/** Time passes as ever, but for the wait between two looks, and what it is. */
function createWorld(): { readonly world: Tools; poll(): void } {
  let next = Promise.withResolvers<void>();
  let passedMs = 0;
  return {
    poll() {
      passedMs += pollMs;
      next.resolve();
      next = Promise.withResolvers();
    },
    world: {
      ...tools,
      now: () => tools.now() + passedMs,
      monotonicMs: () => tools.monotonicMs() + passedMs,
      wait: (ms, stop) =>
        ms === pollMs
          ? Promise.race([
              next.promise,
              new Promise<never>((_, reject) =>
                stop.addEventListener("abort", () => reject(stop.reason), { once: true }),
              ),
            ])
          : tools.wait(ms, stop),
    },
  };
}
