/** `--config`, for every command that opens a house. */
import { valueFlag } from "./command.ts";

export const configFlag = valueFlag<string | undefined>("FILE", "what this config says, instead of the nearest one", {
  initial: undefined,
  offer: "files",
  parse: (text) => text,
});
