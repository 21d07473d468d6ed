/** Stands in for mounts that are left out: their names and URIs stay theirs, and lists and searches say that they are missing. */
import { fileURLToPath } from "node:url";
import type { FaultyMount } from "../config/config.ts";
import { mountBase, mountNamePattern } from "../config/mount-base.ts";
import { lastingFailure, quote } from "../errors.ts";
import type { ServedMount } from "./locate.ts";
import type { Source } from "../source.ts";

/** Problems may name files and variables that callers must not know. */
const faultMessage = "it is left out because of a problem in the config; the operator sees it with pressmark doctor";
const absenceMessage = "it is optional, and missing on this machine";

/** Of a mount whose own URIs are not known. */
const scheme = "left-out";

/** Without mounts that are still served, and those whose name cannot be used for a mount. */
export function leftOutMounts(faulty: readonly (FaultyMount & { readonly isKept: boolean })[]): readonly ServedMount[] {
  return faulty.flatMap(({ name, base, isKept, isExpected }) =>
    isKept || !mountNamePattern.test(name)
      ? []
      : [
          {
            name,
            base: base ?? mountBase(scheme, name),
            source: createLeftOutSource(name, isExpected ? absenceMessage : faultMessage),
            folder: base?.startsWith("file:") ? fileURLToPath(base).replace(/[/\\]$/, "") : undefined,
            ...(!isExpected && { leftOut: faultMessage }),
          },
        ],
  );
}

function createLeftOutSource(name: string, message: string): Source {
  async function refuse(): Promise<never> {
    throw lastingFailure(`the mount ${quote(name, 64)} cannot be read: ${message}`);
  }
  return {
    list: async () => ({ items: [] }),
    read: refuse,
    stat: refuse,
    children: refuse,
    // Which files it would show is not known. Only callers who may see all files may know of it.
    filesOf: () => [{ path: "/", isWhole: true }],
  };
}
