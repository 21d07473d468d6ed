/** A server whose own search says which results match, and which are only similar. */
import { openPolicy } from "../../access/policy.ts";
import { createResources } from "../../router/create-resources.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { SourceHits } from "../../source.ts";
import { createMemory } from "../../sources/memory.ts";
import { listen } from "../../transport/listen.ts";
import { createProtocol } from "../create-protocol.ts";
import { createReadingTools } from "./reading-tools.ts";

const texts = { "設計/決済.md": "alpha beta\n", "both.md": "beta alpha\n", "one.md": "alpha\n" };

export interface SimilarServer {
  readonly url: string;
  /** Why a part of it cannot be searched, if set. */
  failure: string | undefined;
  close(): Promise<void>;
}

export async function openSimilarServer(): Promise<SimilarServer> {
  /** Finds texts that contain a word of the query, the best last; those that contain all of them match. */
  async function search({ text }: { readonly text: string }): Promise<SourceHits> {
    const { failure } = server;
    const words = text.split(" ");
    const hits = Object.entries(texts).flatMap(([path, content]) => {
      const found = words.filter((word) => content.includes(word)).length;
      const entry = { path, name: path.slice(path.lastIndexOf("/") + 1) };
      const hit = { entry, score: 1, snippet: content.trim(), lines: [1, 1] as const };
      return found === 0 ? [] : [{ ...hit, isMatch: found === words.length }];
    });
    return {
      hits: hits.toReversed(),
      ready: failure === undefined ? 1 : 0.5,
      ...(failure !== undefined && { failure }),
    };
  }

  const mount = { name: "far", base: "memory://far/", source: { ...createMemory(texts).source, search } };
  const runtime = createRuntime({ write: () => true });
  const resources = createResources({ mounts: [mount], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  const tools = createReadingTools({ resources, server: "far", mounts: () => [mount] });
  const protocol = createProtocol({ resources, server: { name: "far", version: "1" }, tools });
  const listening = await listen(protocol, { port: 0, graceMs: 0 });
  const server: SimilarServer = {
    url: listening.url,
    failure: undefined,
    async close() {
      listening.server.closeAllConnections();
      await listening.close();
      await resources.close();
    },
  };
  return server;
}
