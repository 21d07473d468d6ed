/** Checks whether all resources of sets exist. */
import { type ResourceError, toResourceError } from "../errors.ts";
import type { Call, Resources } from "../resources.ts";
import type { CheckResult } from "./examine.ts";
import type { Sets } from "./sets.ts";

/** Number of missing resources listed per set. */
const mostMissing = 20;

/** Checks sets of the config and sets saved for everyone, not those saved by a caller. */
export async function examineSets(
  sets: Pick<Sets, "configured" | "store">,
  resources: Pick<Resources, "stat">,
  call: Call,
): Promise<CheckResult[]> {
  const all = [...sets.configured(), ...sets.store.all().filter(({ owner }) => owner === undefined)];
  const findings: CheckResult[] = [];
  for (const { name, resources: uris } of all) {
    const about = `set ${name}`;
    const missing: CheckResult[] = [];
    for (const uri of uris)
      try {
        await resources.stat(uri, call);
      } catch (cause) {
        missing.push({ about, state: "hint", ...explain(name, uri, toResourceError(cause), call) });
      }
    findings.push(...missing.slice(0, mostMissing));
    const more = missing.length - mostMissing;
    if (more > 0) findings.push({ about, state: "hint", says: `${more} more of this kind` });
    if (missing.length === 0) findings.push({ about, state: "ok", says: `no resource is missing (${uris.length})` });
  }
  return findings;
}

function explain(name: string, uri: string, failure: ResourceError, call: Call): Pick<CheckResult, "says" | "advice"> {
  const { kind, message } = failure;
  if (call.signal.aborted) throw failure;
  if (kind !== "not-found" && kind !== "invalid" && kind !== "denied")
    return { says: `${uri} cannot be checked: ${message}` };
  return {
    says: `${uri} does not exist, and is left out`,
    advice: `correct it, or remove it: pressmark set remove ${name} ${uri}`,
  };
}
