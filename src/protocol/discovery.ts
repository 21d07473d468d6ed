/** What a server says of itself: capabilities, identity, revisions. */
import type { Ask, Offer, ServerInfo } from "./ask.ts";
import type { Vocabulary } from "./revision.ts";

/** Skills are found through their own method; directories of every source through `resources/directory/read`. */
const extensions = { "io.modelcontextprotocol/skills": { directoryRead: true } };

export function capabilities({ tools, prompts }: Offer, has: Vocabulary, modern: boolean): Record<string, unknown> {
  return {
    resources: { subscribe: true, listChanged: true },
    ...(has.audio && { completions: {} }),
    ...(tools.size > 0 && { tools: {} }),
    ...(prompts.size > 0 && { prompts: {} }),
    ...(modern && { extensions }),
  };
}

export function wireServer(
  { name, version, title, description, websiteUrl, icons }: ServerInfo,
  has: Vocabulary,
): object {
  return {
    name,
    version,
    ...(has.titles && title !== undefined && { title }),
    ...(has.icons && description !== undefined && { description }),
    ...(has.icons && websiteUrl !== undefined && { websiteUrl }),
    ...(has.icons && icons && { icons }),
  };
}

export const serverDiscover: Ask = {
  answer({ offer, revision }) {
    const result = {
      supportedVersions: offer.revisions,
      capabilities: capabilities(offer, revision.has, true),
      ...(offer.instructions !== undefined && { instructions: offer.instructions }),
    };
    return revision.seal(result, { ttlMs: 60 * 60 * 1000, scope: "public" }, offer.server);
  },
};

export const ping: Ask = { answer: () => ({}) };
