/** Records an event in the audit log of a config, if its server keeps one. */
import type { ConfigOrigin } from "../config/load-config.ts";
import { realPath } from "../lib/real-path.ts";
import type { AuditEvent } from "../server/audit-log.ts";
import type { CommandContext } from "./command.ts";

export async function recordEvent(
  config: ConfigOrigin,
  stateFolder: string,
  event: AuditEvent,
  { folder: from, env }: CommandContext,
): Promise<void> {
  const { loadConfig } = await import("../config/load-config.ts");
  // No server runs with a config that cannot be loaded.
  const loaded = await loadConfig(config, { from, env, stateFolder }).catch(() => undefined);
  if (!loaded || "untrusted" in loaded || !loaded.config.server.audit) return;
  const { auditFolder, createAuditLog } = await import("../server/audit-log.ts");
  const folder = auditFolder(stateFolder, realPath(config.file));
  const audit = createAuditLog({ folder, runtime: { now: Date.now, log: () => undefined } });
  audit.write(event);
  await audit.close();
}
