/** What the config says of a Drive. */
import type { z as Zod } from "zod";
import { isDriveId } from "./drive-objects.ts";

export interface PushSettings {
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

export interface DriveSourceOptions {
  readonly myDrive: boolean;
  readonly drives: "all" | readonly string[];
  readonly folders: readonly string[];
  readonly keyFile?: string | undefined;
  readonly subject?: string | undefined;
  readonly account?: string | undefined;
  readonly anonymous: boolean;
  readonly access: "account" | "drive";
  readonly callers: Readonly<Record<string, string>>;
  readonly push?: PushSettings | undefined;
  readonly keep: boolean;
  readonly rootUrl: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly pollMs: number;
}

export function driveOptions(z: typeof Zod) {
  const id = z
    .string()
    .refine(isDriveId, "must be an id, as it stands in the address of the folder or the shared drive");
  return z
    .object({
      myDrive: z
        .boolean()
        .default(true)
        .describe("whether the account's own files, and those shared with it, are served"),
      drives: z
        .union([z.literal("all"), z.array(id)])
        .default("all")
        .describe("the shared drives to serve, by id; all that the account is in unless said"),
      folders: z.array(id).default([]).describe("only what lies in these folders, by id"),
      keyFile: z
        .string()
        .min(1)
        .optional()
        .meta({ format: "path" })
        .describe(
          "the key of a service account; else who signed in with `pressmark drive login`, else what the machine is signed in as",
        ),
      subject: z.email().optional().describe("whom a service account acts for, where it may act for a whole domain"),
      account: z.email().optional().describe("which of those who signed in with `pressmark drive login` is meant"),
      anonymous: z.boolean().default(false).describe("ask without credentials, for an emulator"),
      access: z
        .enum(["account", "drive"])
        .default("account")
        .describe("who sees what: everyone what the account sees, or each caller what Drive lets them read"),
      callers: z
        .record(z.string(), z.email())
        .default({})
        .describe(
          "with access drive: the Google address of a caller, by the caller's id; an id that is an address needs no entry",
        ),
      push: z
        .object({
          url: z
            .url({ protocol: /^https?$/ })
            .describe("where Google reaches this machine: https, and a domain that you own"),
          host: z.string().default("127.0.0.1").describe("where the calls arrive on this machine, behind your proxy"),
          port: z.int().min(0).max(65_535).describe("on which port"),
        })
        .strict()
        .optional()
        .describe("let Drive call when something changes, instead of only looking every pollMs"),
      keep: z
        .boolean()
        .default(true)
        .describe("keep what is known of the files on disk, so that a start need not look at all of them"),
      rootUrl: z
        .url({ protocol: /^https?$/ })
        .default("https://www.googleapis.com/")
        .describe("the address of an emulator"),
      maxBytes: z
        .int()
        .min(1)
        .max(64 * 1024 * 1024)
        .default(5 * 1024 * 1024)
        .describe("a larger file is read by ranges"),
      timeoutMs: z
        .int()
        .min(1)
        .max(300_000)
        .default(30_000)
        .describe("how long one question may take, with all its requests and attempts"),
      pollMs: z
        .int()
        .min(1000)
        .max(86_400_000)
        .default(60_000)
        .describe("how often changes are asked for while someone watches"),
    })
    .strict();
}
