/** Several watches, and the end of each. */
import type { SourceChange } from "../../source.ts";
import { WaitError, within } from "../within.ts";
import type { ContractContext } from "./contract-context.ts";
import { createWatching } from "./watched.ts";
import type { Watched } from "./watched.ts";

export function testWatchLifetime(context: ContractContext): void {
  const { begin, expectReported, listen, startWatch, test } = createWatching(context);

  test("any number of concurrent watches each report every later change", async () => {
    const first = await begin();
    await expectReported(first);
    const several = await Promise.all([begin(), begin(), begin()]);
    await expectReported(first, ...several);
    await expectReported(first, ...several, await begin());
  });

  for (const which of ["first", "last"]) {
    test(`continues for the others when the ${which} of them ends`, async () => {
      const leaving = new AbortController();
      const begun: Watched[] = [];
      for (const each of ["first", "middle", "last"])
        begun.push(await begin(each === which ? leaving.signal : context.signal()));
      await expectReported(...begun);
      const [ending, ...others] = which === "first" ? begun : begun.toReversed();
      leaving.abort();
      await ending?.untilEnd("its signal was aborted");
      await expectReported(...others);
      await expectReported(...others, await begin());
    });

    test(`continues for the others when the reader of the ${which} of them fails`, async () => {
      const other = which === "last" ? await begin() : undefined;
      const failed = failAtFirst(await startWatch());
      const others = [other ?? (await begin()), await begin()];
      await expectReported(...others);
      await within(context.waitMs, failed, "the first change of the watch whose reader fails, and for its end");
      await expectReported(...others, await begin());
    });
  }

  test("continues for the others when one of them is cancelled while it starts", async () => {
    const before = await begin();
    const leaving = new AbortController();
    const [cancelled, beside] = [startWatch(leaving.signal).then(listen), begin()];
    leaving.abort();
    const watched = await cancelled.catch(() => undefined);
    await watched?.untilEnd("its signal was aborted while it started").catch(ignoreUnlessLate);
    await expectReported(before, await beside, await begin());
  });

  test("does not wait for a watch that no one reads", async () => {
    await startWatch();
    const watched = await begin();
    await expectReported(watched);
    await expectReported(watched);
  });

  test("ends when the call's signal does", async () => {
    const watched = await begin();
    context.abort();
    await watched.untilEnd("its signal was aborted");
  });

  test("does not start with an aborted signal", async () => {
    const started = await startWatch(AbortSignal.abort()).catch(ignoreUnlessLate);
    if (started) await listen(started).untilEnd("it was started with an aborted signal");
  });

  test("ends, or reports that it cannot continue, when the source is closed", async () => {
    if (!context.source().close) return;
    const watched = await begin();
    await context.close();
    await watched.untilEnd("the source was closed").catch(ignoreUnlessLate);
  });
}

/** A watch may end with an error, but not too late. */
function ignoreUnlessLate(error: unknown): undefined {
  if (error instanceof WaitError) throw error;
}

/** Reads one change and fails, as a consumer may. */
async function failAtFirst(changes: AsyncIterable<SourceChange>): Promise<void> {
  const failure = new Error("the reader failed");
  try {
    for await (const _ of changes) throw failure;
  } catch (cause) {
    if (cause !== failure) throw cause;
  }
}
