/** Reads a resource through Codex itself, without a model: its app server takes requests for a thread. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { HostPlace } from "./host-place.ts";
import { programOf } from "./install.ts";

interface Answer {
  readonly id?: number;
  readonly result?: { readonly thread?: { readonly id: string } };
}

/** The answer to `mcpServer/resource/read`, as JSON. */
export async function readThroughCodex({ sub, env, uri }: HostPlace): Promise<string> {
  const child = spawn(programOf("codex"), ["app-server"], { cwd: sub, env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  async function ask(method: string, params: object): Promise<Answer> {
    const id = ++last;
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`codex app-server ended before it answered ${method}`);
      const answer = JSON.parse(value) as Answer;
      if (answer.id === id) return answer;
    }
  }
  try {
    await ask("initialize", { clientInfo: { name: "test", title: "test", version: "1" } });
    send({ method: "initialized" });
    const { result } = await ask("thread/start", { cwd: sub });
    const read = await ask("mcpServer/resource/read", { threadId: result?.thread?.id, server: "pressmark", uri });
    return JSON.stringify(read);
  } finally {
    child.kill();
    await exited;
  }
}
