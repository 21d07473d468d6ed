/** Resources of a server that is started as a program. For Node alone. */
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connectBy, type ConnectOptions, type RemoteServer } from "./connect.ts";
import type { ConnectMethod } from "./reconnect.ts";

export interface ServerProgram {
  /** Found as the system finds programs. No shell is involved. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** All that the program sees of the environment, beside what every program needs (`PATH`, `HOME` and the like). */
  readonly env?: Readonly<Record<string, string>>;
  /** Where its log goes; nowhere unless said. */
  readonly stderr?: "inherit" | "ignore";
  /** Called each time before it is started; what it throws keeps it from being started. */
  readonly beforeStart?: () => void;
}

/** The program is started again when it has ended and something is asked, or watched. */
export function connectProgram(program: ServerProgram, options: ConnectOptions = {}): Promise<RemoteServer> {
  return connectBy(() => openProgram(program), options);
}

export function programWay(program: ServerProgram): ConnectMethod {
  return { open: () => openProgram(program) };
}

function openProgram({
  command,
  args = [],
  cwd,
  env,
  stderr = "ignore",
  beforeStart,
}: ServerProgram): StdioClientTransport {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    stderr,
    ...(cwd !== undefined && { cwd }),
    ...(env && { env: { ...env } }),
  });
  if (beforeStart) {
    // To find out the era, the client starts it at once and lets it go, and only then starts this transport.
    beforeStart();
    const start = transport.start.bind(transport);
    transport.start = async () => {
      beforeStart();
      await start();
    };
  }
  return transport;
}
