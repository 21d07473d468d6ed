/** Starts a session of a fake protocol for tests. */
import type { FakeServer } from "./test-server.ts";

export async function beginSession(served: FakeServer, revision = "2025-06-18") {
  const id = await served.initialize(revision);
  const headers = { "Mcp-Session-Id": id };
  const session = served.edge.sessions.at(-1);
  if (!session) throw new Error("no session");
  return {
    id,
    headers,
    session,
    listen: (lastEventId?: string) =>
      served.listen({
        method: "GET",
        headers: { ...headers, ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }) },
      }),
  };
}

/** Resolves as soon as the server has this many streams. */
export async function whenStreams(served: FakeServer, count: number): Promise<void> {
  while (served.listening.http.counts.streams !== count) await new Promise((resolve) => setImmediate(resolve));
}
