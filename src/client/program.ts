/** A server that is started as a program, over its standard input and output. */
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connectBy, type ConnectOptions, type RemoteServer } from "./connect.ts";
import type { ConnectMethod } from "./reconnect.ts";

export interface ServerProgram {
  /** Resolved like any program name. No shell is involved. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Environment of the program, in addition to what every program needs (`PATH`, `HOME` and the like). */
  readonly env?: Readonly<Record<string, string>>;
  /** Where its log goes. Default: nowhere. */
  readonly stderr?: "inherit" | "ignore";
  /** Called before each start; if it throws, the program is not started. */
  readonly beforeStart?: () => void;
}

/** The program is started again when it has exited and something is requested or watched. */
export function connectProgram(program: ServerProgram, options: ConnectOptions = {}): Promise<RemoteServer> {
  return connectBy(() => new ProgramTransport(program), options);
}

export function programWay(program: ServerProgram): ConnectMethod {
  return { open: () => new ProgramTransport(program) };
}

/** A subclass, because the official client detects the era of its own class with a second process. */
class ProgramTransport extends StdioClientTransport {
  readonly #beforeStart: ServerProgram["beforeStart"];

  constructor({ command, args = [], cwd, env, stderr = "ignore", beforeStart }: ServerProgram) {
    super({ command, args: [...args], stderr, cwd, ...(env && { env: { ...env } }) });
    this.#beforeStart = beforeStart;
  }

  override async start(): Promise<void> {
    this.#beforeStart?.();
    await super.start();
  }
}
