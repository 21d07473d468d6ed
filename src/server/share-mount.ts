/** Lets the instances of a server share the watch of each mount. */
import { createHash } from "node:crypto";
import type { MountConfig } from "../config/config.ts";
import type { Runtime } from "../source.ts";
import type { SharedState } from "../state/shared-state.ts";
import { shareWatch } from "../watch/shared-watch.ts";
import type { ShareMount } from "./open-mounts.ts";

export function createMountSharing({ bus, leases }: SharedState, runtime: Runtime): ShareMount {
  return (source, config) => shareWatch(source, { mount: sharedName(config), bus, leases, runtime });
}

/** Differs for mounts of one name with other content, as while a changed config is rolled out: neither reports the changes of the other. */
function sharedName({ name, definition, options }: MountConfig): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([definition.name, options]))
    .digest("base64url");
  return `${name}:${digest.slice(0, 16)}`;
}
