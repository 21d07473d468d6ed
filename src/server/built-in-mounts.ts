/** Mounts that every server has: its status, and the picker as an app for hosts. */
import type { Mount } from "../router/route.ts";
import { activityPage } from "./activity-page.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import { type StatusPageOptions, statusPage } from "./status-page.ts";
import { indexPage } from "./index-status.ts";
import { pickerAppMount } from "./picker-app.ts";
import { statusMount } from "./status-mount.ts";

interface BuiltInMountsOptions extends StatusPageOptions {
  /** The picker as one file. Default: the one in the package. */
  readonly pickerApp?: string;
  /** Absent if nothing is recorded. */
  readonly deliveries?: DeliveryLog;
}

export function builtInMounts(options: BuiltInMountsOptions): readonly Mount[] {
  const { index, deliveries, pickerApp } = options;
  const pages = [indexPage(index), statusPage(options), ...(deliveries ? [activityPage(deliveries)] : [])];
  return [statusMount(pages), pickerAppMount(pickerApp)];
}

/** Adds the built-in mounts whose scheme no other mount uses, also not for other spellings of its URIs. */
export function withBuiltInMounts(mounts: readonly Mount[], own: readonly Mount[]): readonly Mount[] {
  const taken = new Set(mounts.flatMap(({ base, aliases = [] }) => [base, ...aliases].map(schemeOf)));
  return [...mounts, ...own.filter(({ base }) => !taken.has(schemeOf(base)))];
}

function schemeOf(base: string): string {
  return base.slice(0, base.indexOf(":")).toLowerCase();
}
