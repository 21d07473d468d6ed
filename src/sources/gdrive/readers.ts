/** Who may read a file, according to its Drive permissions. */
import type { Caller } from "../../resources.ts";
import type { DrivePermission } from "./drive-objects.ts";

/**
 * A caller is the account that the config assigns, or the address that the caller id is. Files open to anyone with the link are hidden:
 * listing one would hand out the link.
 */
export function mayRead(
  caller: Caller,
  permissions: readonly DrivePermission[] | undefined,
  { callers, nowMs }: { readonly callers: Readonly<Record<string, string>>; readonly nowMs: number },
): boolean {
  const known = Object.hasOwn(callers, caller.id) ? callers[caller.id] : caller.id;
  const email = known?.toLowerCase() ?? "";
  const at = email.indexOf("@");
  const domain = at > 0 ? email.slice(at + 1) : undefined;
  const groups = new Set((caller.groups ?? []).map((group) => group.toLowerCase()));
  return (permissions ?? []).some(({ type, email: who, domain: where, isDiscoverable, expires }) => {
    if (expires !== undefined && !(Date.parse(expires) > nowMs)) return false;
    switch (type) {
      case "user":
        return at > 0 && who === email;
      case "group":
        return who !== undefined && groups.has(who);
      case "domain":
        return isDiscoverable && domain !== undefined && where === domain;
      case "anyone":
        return isDiscoverable;
      default:
        return false;
    }
  });
}
