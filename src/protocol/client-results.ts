/** Checks the results that a client sends to requests of this server. */
import { z } from "zod";

const block = z.looseObject({ type: z.string() });

/** Clients may send more members than these. */
export const clientResults = {
  "elicitation/create": z.looseObject({
    action: z.enum(["accept", "decline", "cancel"]),
    // Some clients send null instead of no content.
    content: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
      .nullish()
      .transform((content) => content ?? undefined),
  }),
  "sampling/createMessage": z.looseObject({
    role: z.enum(["user", "assistant"]),
    content: z.union([block, z.array(block)]),
    model: z.string(),
  }),
  "roots/list": z.looseObject({ roots: z.array(z.looseObject({ uri: z.string() })) }),
} as const;
