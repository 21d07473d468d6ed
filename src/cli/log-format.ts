/** The flag `--log-format`, which means the same as PRESSMARK_LOG_FORMAT and wins over it. */
import { type CommandContext, oneOf, valueFlag } from "./command.ts";

export const logFormatFlag = valueFlag("FORMAT", "Format of the log on standard error: text or json", {
  initially: "PRESSMARK_LOG_FORMAT, else text",
  offer: ["text", "json"],
  parse: oneOf(["text", "json"]),
});

export function withLogFormat(env: CommandContext["env"], format: "text" | "json" | undefined): CommandContext["env"] {
  return format === undefined ? env : { ...env, PRESSMARK_LOG_FORMAT: format };
}
