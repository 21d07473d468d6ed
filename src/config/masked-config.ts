/** A config for display: values from references are shown as dots. */
import type { QuotaSettings } from "../access/quotas.ts";
import type { MountConfig } from "./config.ts";
import { isAddress, maskUrls } from "./mask-urls.ts";
import { type KeyPath, formatPath } from "./problem.ts";
import { dots, isPlainObject } from "./references.ts";
import type { SearchSettings, ServerSettings } from "./schema.ts";
import type { AccessSettings } from "./access.ts";
import type { SetConfig } from "./sets.ts";

/** `leftOut` are mounts without resolved references, shown as written. */
export function shownConfig(
  mounts: readonly MountConfig[],
  {
    server,
    search,
    sets,
    access: { callers, rules },
    quotas,
  }: {
    readonly server: ServerSettings;
    readonly search: SearchSettings;
    readonly sets: readonly SetConfig[];
    readonly access: AccessSettings;
    readonly quotas: QuotaSettings;
  },
  secretPaths: ReadonlySet<string>,
  leftOut: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const shown = mounts.map(({ name, definition, options, limits, redact, ...more }) => {
    const { scheme, title, description, priority, audience, optional, search: isSearched, freshness } = more;
    const mount = {
      source: definition.name,
      ...(isPlainObject(options) ? options : {}),
      ...(redact && { redact }),
      ...(Object.keys(limits).length > 0 && { limits }),
      ...withoutUndefined({ scheme, title, description, priority, audience, optional, search: isSearched, freshness }),
    };
    return [name, withoutSecrets(mount, ["mounts", name], secretPaths)];
  });
  const asWritten = Object.entries(leftOut).map(([name, mount]) => [
    name,
    withoutSecrets(mount, ["mounts", name], secretPaths),
  ]);
  return {
    mounts: Object.fromEntries([...shown, ...asWritten]) as Readonly<Record<string, unknown>>,
    ...(Object.keys(search).length > 0 && { search: withoutSecrets(search, ["search"], secretPaths) }),
    ...(sets.length > 0 && { sets: Object.fromEntries(sets.map(({ name, ...set }) => [name, set])) }),
    ...(callers.length > 0 && { callers: Object.fromEntries(callers.map(({ name, ...caller }) => [name, caller])) }),
    ...(rules.length > 0 && { rules }),
    ...(Object.keys(quotas).length > 0 && { quotas }),
    ...(Object.keys(server).length > 0 && { server: withoutSecrets(server, ["server"], secretPaths) }),
  };
}

function withoutUndefined(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Options whose value is a secret even if written literally. */
const secretNames: ReadonlySet<unknown> = new Set([
  "apiKey",
  "clientSecret",
  "password",
  "privateKey",
  "secretAccessKey",
  "sessionToken",
  "token",
]);

function withoutSecrets(value: unknown, path: KeyPath, secretPaths: ReadonlySet<string>): unknown {
  if (secretPaths.has(formatPath(path))) return dots;
  if (Array.isArray(value)) return value.map((each, index) => withoutSecrets(each, [...path, index], secretPaths));
  if (typeof value === "string") return isSecretOption(path) ? dots : maskUrls(value, { isAddress: isAddress(path) });
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutSecrets(each, [...path, key], secretPaths)]),
  );
}

/** Whether an option's value is a secret, by its name or because it is a header. */
export function isSecretOption(path: KeyPath): boolean {
  return secretNames.has(path.at(-1)) || path.at(-2) === "headers";
}
