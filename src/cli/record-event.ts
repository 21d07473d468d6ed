/** Records an event in the audit log of a config, if its server keeps one. */
import type { Config } from "../config/config.ts";
import { realPath } from "../lib/real-path.ts";
import type { AuditEvent } from "../server/audit-log.ts";

export async function recordEvent(
  { server, file }: { readonly server: Config["server"]; readonly file: string },
  stateFolder: string,
  event: AuditEvent,
): Promise<void> {
  if (!server.audit) return;
  const { auditFolder, createAuditLog } = await import("../server/audit-log.ts");
  const folder = auditFolder(stateFolder, realPath(file));
  const audit = createAuditLog({ folder, runtime: { now: Date.now, log: () => undefined } });
  audit.write(event);
  await audit.close();
}
