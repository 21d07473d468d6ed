/** The flag `--config`, for every command that opens a server. */
import { valueFlag } from "./command.ts";

export const configFlag = valueFlag<string | undefined>("FILE", "Config file to use instead of the nearest one", {
  initial: undefined,
  offer: "files",
  parse: (text) => text,
});
