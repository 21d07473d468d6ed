/** Whether NATS can be used and has the stream of a server, for doctor. */
import type { SharedDatabase } from "./database.ts";
import { connectNats, isStreamMissing, loadNats, streamNames, toNatsError } from "./nats-connection.ts";
import { parseNatsUrl } from "./nats-url.ts";
import { readServerId } from "./server-id.ts";

/** Creates nothing. Rejects with the reason if NATS or its JetStream cannot be used, or the stream cannot be created. */
export async function findNatsStream(url: string, database: SharedDatabase): Promise<boolean> {
  const target = parseNatsUrl(url);
  const packages = await loadNats();
  // Without tables there is no stream; asking for any still shows whether JetStream can be used.
  const names = streamNames(database.schema, (await readServerId(database)) ?? "none");
  try {
    const { manager, checkSubjects, end } = await connectNats(packages, target, names, "doctor");
    try {
      await manager.streams.info(names.stream);
      return true;
    } catch (cause) {
      if (!isStreamMissing(cause)) throw cause;
      await checkSubjects();
      return false;
    } finally {
      end();
    }
  } catch (cause) {
    throw toNatsError(cause);
  }
}
