/** Which model is asked: the environment says. */
import type { Endpoint } from "./dialects.ts";

/** What to set, for whoever has not. */
export const missing = `Set these, then run it again:

  ACTIVATION_DIALECT  openai or anthropic
  ACTIVATION_URL      where the model is: up to /chat/completions (openai) or to /v1/messages (anthropic)
  ACTIVATION_MODEL    its name
  ACTIVATION_KEY      its key; anything where none is asked for

or try it without a model: node bench/activation/run.ts --stand-in`;

/** Undefined where no model is named. A half-named one is refused. */
export function endpointOf(env: Readonly<Record<string, string | undefined>>): Endpoint | undefined {
  const { ACTIVATION_DIALECT: dialect, ACTIVATION_URL: url, ACTIVATION_MODEL: model, ACTIVATION_KEY: key } = env;
  if (!dialect && !url && !model && !key) return undefined;
  if (!url || !model || !key || (dialect !== "openai" && dialect !== "anthropic"))
    throw new Error(`the model is named in part only. ${missing}`);
  return { dialect, url, model, key };
}
