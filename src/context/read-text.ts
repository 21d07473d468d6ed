/** Reads resources that are text. */
import type { Call, Resources } from "../resources.ts";

/** The first content; empty if it is not text. */
export async function readText(resources: Resources, uri: string, call: Call): Promise<string> {
  const { contents } = await resources.read(uri, call);
  const body = contents[0]?.body;
  return body && "text" in body ? body.text : "";
}
