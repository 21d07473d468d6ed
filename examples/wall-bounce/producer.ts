/** A producer: asks whether the answer is there, puts the question to its models only when it is the one to do so, and stores what they say. */
import type { Client } from "@modelcontextprotocol/client";

export interface Asked {
  readonly prompt: string;
  readonly taskType: "simple" | "basic" | "premium" | "critical";
  readonly grounding?: readonly { readonly uri: string }[];
}

export interface Answer {
  readonly status: string;
  readonly lease?: string;
  readonly uris?: readonly string[];
  readonly result?: { readonly consensus: { readonly content: string } };
}

/** `ask` stands for the models: it costs money, and is called as seldom as possible. */
export async function analyse(client: Client, asked: Asked, ask: (prompt: string) => Promise<object>): Promise<Answer> {
  for (;;) {
    const found = await use(client, "find_analysis", { ...asked });
    if (found.status === "wait") continue;
    if (found.status !== "compute") return found;
    try {
      const result = await ask(asked.prompt);
      const stored = await use(client, "store_analysis", { lease: found.lease, result });
      return { ...stored, result: result as NonNullable<Answer["result"]> };
    } catch (cause) {
      // Those who wait are told, and get an older result where there is one.
      const failed = await use(client, "store_analysis", { lease: found.lease, failed: String(cause) });
      if (failed.status === "stale") return failed;
      throw cause;
    }
  }
}

async function use(client: Client, name: string, args: Record<string, unknown>): Promise<Answer> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  if (isError) throw new Error(JSON.stringify(content));
  return structuredContent as unknown as Answer;
}
