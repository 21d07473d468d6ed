/** Connects, and loads the official client for it. Without that package the rest of `pressmark/client` can still be used. */
import type { Transport } from "@modelcontextprotocol/client";
import type { ConnectOptions, RemoteServer } from "./connect.ts";
import { explainMissing } from "./explain-missing.ts";

/** Connects over HTTP, with whichever transport the server supports. Throws if there is no server. */
export async function connect(url: string | URL, options: ConnectOptions = {}): Promise<RemoteServer> {
  const loaded = await import("./connect.ts").catch(explainMissing);
  return loaded.connect(url, options);
}

/** Connects over any transport of the official client; opens a new one for each connection. */
export async function connectBy(
  open: () => Transport | Promise<Transport>,
  options: ConnectOptions = {},
): Promise<RemoteServer> {
  const loaded = await import("./connect.ts").catch(explainMissing);
  return loaded.connectBy(open, options);
}
