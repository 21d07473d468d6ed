/** Completes variables of templates and arguments of prompts. */
import { invalid, quote } from "../errors.ts";
import type { Suggestions } from "../resources.ts";
import type { RequestHandler } from "./client-request.ts";
import { member } from "./message.ts";
import { nameParam, recordOf, stringsOf, uriOf, valueParam } from "./params.ts";

/** Limit of the specification. */
const maxValues = 100;

export const completionComplete: RequestHandler = {
  async answer({ offer, revision, params, call }) {
    const ref = recordOf(params, "ref");
    const argument = recordOf(params, "argument");
    const variable = nameParam(argument);
    const value = valueParam(argument);
    const context =
      revision.has.completionContext && member(params, "context") !== undefined
        ? recordOf(params, "context")
        : undefined;
    const given = stringsOf(context, "arguments");

    let suggestions: Suggestions;
    if (ref["type"] === "ref/resource") {
      suggestions = await offer.resources.complete({ template: uriOf(ref), variable, value, given }, call);
    } else if (ref["type"] === "ref/prompt") {
      const name = nameParam(ref);
      const prompt = await offer.prompts?.find(name, call);
      if (!prompt) throw invalid(`no prompt ${quote(name)}`);
      suggestions = (await prompt.complete?.(variable, value, given, call)) ?? { values: [] };
    } else {
      throw invalid('"ref" must be of type "ref/resource" or "ref/prompt"');
    }

    const { values, total, more } = suggestions;
    const completion = {
      values: values.slice(0, maxValues),
      total,
      hasMore: more === true || values.length > maxValues,
    };
    return revision.seal({ completion }, undefined, offer.server);
  },
};
