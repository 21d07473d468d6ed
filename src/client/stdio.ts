/** `pressmark/client/stdio`: connects to a server that is started as a program. For Node only. */
import type { ConnectOptions, RemoteServer } from "./connect.ts";
import { explainMissing } from "./explain-missing.ts";
import type { ServerProgram } from "./program.ts";

export type { ConnectOptions, RemoteServer } from "./connect.ts";
export type { ServerProgram } from "./program.ts";

/** The program is started again when it has exited and something is requested or watched. */
export async function connectProgram(program: ServerProgram, options: ConnectOptions = {}): Promise<RemoteServer> {
  const loaded = await import("./program.ts").catch(explainMissing);
  return loaded.connectProgram(program, options);
}
