/** The server as a process of its own, so that its memory can be weighed and its death seen. */
import { serve } from "./test-server.ts";
import { type FromServer, stirredAt, type ToServer } from "./process.ts";

const [folder = "", options = "{}"] = process.argv.slice(2);
const served = await serve(folder, JSON.parse(options) as object);
const tell = (message: FromServer): void => void process.send?.(message);

process.on("message", (message: ToServer) => {
  if (message === "close") void served.close().then(() => process.disconnect());
  else if (typeof message === "object") {
    for (let at = 0; at < message.stir; at++) served.memory.set(stirredAt(at), "stirred\n");
    tell({ stirred: message.stir });
  } else {
    // Twice: what the first round finalizes, the second frees.
    globalThis.gc?.();
    setImmediate(() => {
      globalThis.gc?.();
      const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
      tell({ rss, held: heapUsed + external, buffers: arrayBuffers, ...served.listening.http.counts });
    });
  }
});
tell({ port: served.port, base: served.base });
