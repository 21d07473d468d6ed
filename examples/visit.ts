/** A host for the examples: starts a server, and asks it with the official client. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** Starts `node …` and connects to it. Closing the client stops the server. */
export async function visit(...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: "example", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "inherit" }));
  return client;
}

/** The text of a resource. */
export async function textOf(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  if (!content || !("text" in content)) throw new Error(`${uri} is no text`);
  return content.text;
}
