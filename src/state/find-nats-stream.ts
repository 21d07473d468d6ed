/** Whether NATS can be used and has the stream of a server, for doctor. */
import { connectNats, isStreamMissing, loadNats, streamName, toNatsError } from "./nats-connection.ts";
import { parseNatsUrl } from "./nats-url.ts";

/** Creates nothing. Rejects with the reason if NATS or its JetStream cannot be used. */
export async function findNatsStream(url: string, schema: string): Promise<boolean> {
  const target = parseNatsUrl(url);
  const packages = await loadNats();
  try {
    const { manager, end } = await connectNats(packages, target, schema, "doctor");
    try {
      await manager.streams.info(streamName(schema));
      return true;
    } catch (cause) {
      if (isStreamMissing(cause)) return false;
      throw cause;
    } finally {
      end();
    }
  } catch (cause) {
    throw toNatsError(cause);
  }
}
