/** The problems of mounts, one sentence for each problem: many mounts may share one, such as a missing index. */
export function sayFailures(failures: readonly { readonly mount: string; readonly message: string }[]): string[] {
  const mounts = new Map<string, string[]>();
  for (const { mount, message } of failures) mounts.set(message, [...(mounts.get(message) ?? []), mount]);
  return [...mounts].map(([message, names]) => `${names.map((name) => JSON.stringify(name)).join(", ")}: ${message}`);
}
