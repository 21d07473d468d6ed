/** Finds served settings files of a project that contain secrets. */
import { openFiles } from "../sources/config/files.ts";
import { configFormatOf } from "../sources/config/formats.ts";
import { secretSettings } from "../sources/config/secret-settings.ts";
import type { ProjectFinding } from "./survey.ts";

const maxBytes = 256 * 1024;

/** Paths of these files. Hidden files are not served; unreadable ones are skipped. Keeps no value. */
export async function settingsWithSecrets(
  project: string,
  findings: readonly ProjectFinding[],
): Promise<readonly string[]> {
  const named = findings.filter(({ source }) => source === "config").flatMap(({ values }) => values["files"] ?? []);
  const files = named.flatMap((path) => {
    const format = path.split("/").some((name) => name.startsWith(".")) ? undefined : configFormatOf(path);
    return format === undefined ? [] : [{ path, format }];
  });
  const opened = openFiles({ root: project, files, maxBytes });
  const holding = files.map(async (file) => {
    const leaves = await opened.read(file).catch(() => []);
    return secretSettings(leaves).length > 0 ? [file.path] : [];
  });
  return (await Promise.all(holding)).flat();
}
