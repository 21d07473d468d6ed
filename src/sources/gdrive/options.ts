/** Options of a Drive mount. */
import { intOption } from "../../lib/int-option.ts";
import type { z as Zod } from "zod";
import { isDriveId } from "./drive-objects.ts";

export type DriveSourceOptions = Zod.output<ReturnType<typeof driveOptions>>;

export function driveOptions(z: typeof Zod) {
  const id = z.string().refine(isDriveId, "must be an id, as in the address of the folder or the shared drive");
  return z
    .object({
      myDrive: z.boolean().default(true).describe("Whether to serve the account's own files and those shared with it"),
      drives: z
        .union([z.literal("all"), z.array(id)])
        .default("all")
        .describe("Ids of the shared drives to serve, or all that the account is a member of"),
      folders: z.array(id).default([]).describe("Ids of folders; only files in these folders are served"),
      keyFile: z
        .string()
        .min(1)
        .optional()
        .meta({ format: "path" })
        .describe(
          "Key file of a service account. Default: the account of `pressmark drive login`, else the application default credentials of the machine",
        ),
      subject: z.email().optional().describe("User that a service account with domain-wide delegation acts for"),
      account: z.email().optional().describe("Account to use, if several are signed in with `pressmark drive login`"),
      anonymous: z.boolean().default(false).describe("Send no credentials, for an emulator"),
      access: z
        .enum(["account", "drive"])
        .default("account")
        .describe(
          "Who can read what: all callers see what the account sees, or each caller sees what Drive lets them read",
        ),
      callers: z
        .record(z.string(), z.email())
        .default({})
        .describe(
          "With access drive: the Google address of each caller, by caller id; an id that is an address needs no entry",
        ),
      push: z
        .object({
          url: z
            .url({ protocol: /^https?$/ })
            .describe("Public https address at which Google reaches this machine, in a domain that you own"),
          host: z.string().default("127.0.0.1").describe("Local address that receives the calls, behind your proxy"),
          port: z.int().min(0).max(65_535).describe("Local port that receives the calls"),
        })
        .strict()
        .optional()
        .describe("Let Drive report changes by calling this machine, instead of only polling every pollMs"),
      keep: z
        .boolean()
        .default(true)
        .describe(
          "Store the file list on disk, and for many instances in their database, so that a start need not list all files again",
        ),
      rootUrl: z
        .url({ protocol: /^https?$/ })
        .default("https://www.googleapis.com/")
        .describe("Address of an emulator"),
      maxBytes: intOption(z, 1, 64 * 1024 * 1024, 5 * 1024 * 1024).describe("Larger files must be read by ranges"),
      timeoutMs: intOption(z, 1, 300_000, 30_000).describe("Time limit of one call, with all its requests and retries"),
      pollMs: intOption(z, 1000, 86_400_000, 60_000).describe(
        "How often to request changes while a client is subscribed; if none is, how old a list may be that is still used",
      ),
    })
    .strict();
}
