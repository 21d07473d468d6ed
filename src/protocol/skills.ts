/** The skills extension: what a host may find as skills. */

import { invalid, notFound } from "../errors.ts";
import type { Ask } from "./ask.ts";
import { cursorOf, uriOf } from "./params.ts";

/** No source offers skills: the list is empty, and says so with its hints. */
export const skillsList: Ask = {
  answer({ offer, revision, params }) {
    if (cursorOf(params).cursor !== undefined) throw invalid("no such cursor: ask again without one");
    return revision.seal({ skills: [] }, offer.resources.listFreshness, offer.server);
  },
};

export const skillsGet: Ask = {
  answer({ params }) {
    throw notFound(uriOf(params));
  },
};
