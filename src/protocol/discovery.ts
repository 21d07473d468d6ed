/** What a server says of itself: capabilities, identity, revisions. */
import { type Ask, isOffered, type Offer, type ServerInfo } from "./ask.ts";
import type { Revision, Vocabulary } from "./revision.ts";

/** Skills are found through their own method; directories of every source through `resources/directory/read`. */
const extensions = { "io.modelcontextprotocol/skills": { directoryRead: true } };

export function capabilities(offer: Offer, { asks, has }: Revision): Record<string, unknown> {
  return {
    resources: { subscribe: true, listChanged: true },
    ...(has.audio && { completions: {} }),
    ...(isOffered(asks.get("tools/list"), offer) && { tools: {} }),
    ...(isOffered(asks.get("prompts/list"), offer) && { prompts: {} }),
    ...(asks.has("skills/list") && { extensions }),
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
      capabilities: capabilities(offer, revision),
      ...(offer.instructions !== undefined && { instructions: offer.instructions }),
    };
    return revision.seal(result, { ttlMs: 60 * 60 * 1000, scope: "public" }, offer.server);
  },
};

export const ping: Ask = { answer: () => ({}) };
