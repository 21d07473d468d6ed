/** The host settings that `serve` prints for pasting. */
import { type PasteOptions, settingsToPaste } from "../config/hosts/to-paste.ts";

export function hostSettings(options: PasteOptions): string {
  const rows = settingsToPaste(options).map(
    ({ host, file, text }) => `  ${host.padEnd(11)}  ${file === undefined ? text : `${file.padEnd(18)}  ${text}`}\n`,
  );
  return `Add it to your host:\n${rows.join("")}`;
}
