/** What to paste where, as `serve` prints it. */
import { type PasteOptions, settingsToPaste } from "../config/hosts/to-paste.ts";

export function hostSettings(options: PasteOptions): string {
  const rows = settingsToPaste(options).map(
    ({ host, file, text }) => `  ${host.padEnd(11)}  ${file === undefined ? text : `${file.padEnd(18)}  ${text}`}\n`,
  );
  return `Tell your host:\n${rows.join("")}`;
}
