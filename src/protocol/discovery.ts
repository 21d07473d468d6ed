/** Describes the server: capabilities, identity, revisions. */
import type { Caller, Freshness } from "../resources.ts";
import { type RequestHandler, isOffered, type ServerFeatures, type ServerInfo } from "./client-request.ts";
import { extensions } from "./extensions.ts";
import type { Revision, RevisionFeatures } from "./revision.ts";

export function capabilities(offer: ServerFeatures, { asks, has }: Revision): Record<string, unknown> {
  return {
    resources: { subscribe: true, listChanged: true },
    ...(has.audio && { completions: {} }),
    ...(isOffered(asks.get("tools/list"), offer) && {
      tools: offer.moreTools?.watch ? { listChanged: true } : {},
    }),
    ...(isOffered(asks.get("prompts/list"), offer) && {
      prompts: offer.prompts?.watch ? { listChanged: true } : {},
    }),
    ...(has.extensions && { extensions }),
  };
}

export function wireServer(
  { name, version, title, description, websiteUrl, icons }: ServerInfo,
  has: RevisionFeatures,
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

export function instructionsFor({ instructions }: ServerFeatures, caller: Caller): { readonly instructions?: string } {
  if (instructions === undefined) return {};
  return { instructions: typeof instructions === "function" ? instructions(caller) : instructions };
}

const lasting: Freshness = { ttlMs: 60 * 60 * 1000, scope: "public" };
/** Computed instructions may change soon, and are private. */
const passing: Freshness = { ttlMs: 60 * 1000, scope: "private" };

export const serverDiscover: RequestHandler = {
  answer({ offer, revision, call }) {
    const result = {
      supportedVersions: offer.revisions,
      capabilities: capabilities(offer, revision),
      ...instructionsFor(offer, call.caller),
    };
    return revision.seal(result, typeof offer.instructions === "function" ? passing : lasting, offer.server);
  },
};

export const ping: RequestHandler = { answer: () => ({}) };
