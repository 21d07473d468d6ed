/** Records an event in the audit log of a config, if its server keeps one. */
import type { Config } from "../config/config.ts";
import type { AuditEvent } from "../server/audit-log.ts";
import type { SharedState } from "../state/shared-state.ts";

interface RecordedConfig {
  readonly server: Config["server"];
  readonly file: string;
  /** What its instances share, opened by the caller. */
  readonly shared?: SharedState | undefined;
}

export async function recordEvent(
  { server, file: config, shared }: RecordedConfig,
  stateFolder: string,
  event: AuditEvent,
): Promise<void> {
  if (!server.audit) return;
  const { openAuditLog } = await import("../server/open-audit-log.ts");
  const runtime = { now: Date.now, log: () => undefined };
  const audit = await openAuditLog({ settings: server.audit, stateFolder, config, shared, runtime });
  audit.write(event);
  await audit.close();
}
