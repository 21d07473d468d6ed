/** The flag `--log-format`, which means the same as PRESSMARK_LOG_FORMAT and wins over it. */
import { type CommandContext, oneOf, UsageError, valueFlag } from "./command.ts";

const formats = ["text", "json"] as const;
const parse = oneOf(formats);

export const logFormatFlag = valueFlag("FORMAT", "Format of the log on standard error: text or json", {
  initially: "PRESSMARK_LOG_FORMAT, else text",
  offer: formats,
  parse,
});

export function withLogFormat(
  env: CommandContext["env"],
  format: (typeof formats)[number] | undefined,
): CommandContext["env"] {
  return format === undefined ? env : { ...env, PRESSMARK_LOG_FORMAT: format };
}

/** Throws if the environment asks for a format that there is not. */
export function checkLogFormat({ PRESSMARK_LOG_FORMAT: format }: CommandContext["env"]): void {
  try {
    if (format) parse(format);
  } catch (cause) {
    throw cause instanceof UsageError ? new UsageError(`PRESSMARK_LOG_FORMAT ${cause.message}`) : cause;
  }
}
