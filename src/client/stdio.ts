/** Resources of a server that is started as a program. For Node alone. */
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connectBy, type ConnectOptions, type RemoteHouse } from "./connect.ts";
import type { Way } from "./link.ts";

export interface Program {
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
export function connectProgram(program: Program, options: ConnectOptions = {}): Promise<RemoteHouse> {
  return connectBy(() => openProgram(program), options);
}

export function programWay(program: Program): Way {
  return { open: () => openProgram(program) };
}

function openProgram({ command, args = [], cwd, env, stderr = "ignore", beforeStart }: Program): StdioClientTransport {
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
