/** Opens the audit log of a server: shared by its instances, or in the state folder. */
import type { ServerSettings } from "../config/schema.ts";
import { realPath } from "../lib/real-path.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedState } from "../state/shared-state.ts";
import { auditFolder, type AuditEntry, type AuditLog, createAuditLog, readAuditLog } from "./audit-log.ts";

interface AuditLocation {
  readonly stateFolder: string;
  /** The config's file. */
  readonly config: string;
  readonly shared?: Pick<SharedState, "instance" | "store"> | undefined;
}

interface OpenAuditOptions extends AuditLocation {
  readonly settings: NonNullable<ServerSettings["audit"]>;
  readonly runtime: Pick<Runtime, "now" | "log">;
}

export async function openAuditLog(options: OpenAuditOptions): Promise<AuditLog> {
  const { settings, stateFolder, config, shared, runtime } = options;
  const { maxBytes, maxFiles, ...chosen } = settings === true || settings === false ? {} : settings;
  if (!shared)
    return createAuditLog({
      ...chosen,
      maxBytes,
      maxFiles,
      folder: auditFolder(stateFolder, realPath(config)),
      runtime,
    });
  const { createSharedAuditLog } = await import("./shared-audit-log.ts");
  // As much as files of the same settings.
  const bytes = (maxBytes ?? 10 * 1024 * 1024) * (maxFiles ?? 10);
  return createSharedAuditLog({ ...chosen, maxBytes: bytes, shared, runtime });
}

/** All entries, oldest first. */
export async function readAudit({ stateFolder, config, shared }: AuditLocation): Promise<AsyncIterable<AuditEntry>> {
  if (!shared) return readAuditLog(auditFolder(stateFolder, realPath(config)));
  return (await import("./shared-audit-log.ts")).readSharedAuditLog(shared.store);
}
