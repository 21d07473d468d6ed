/** Objects of Google Cloud Storage. */
import { defineSource } from "../source.ts";
import { createGcsStore } from "./gcs/gcs-store.ts";
import { createGoogleIdentity } from "./gcs/identity.ts";
import { createObjectSource } from "./objects/object-source.ts";
import { readingOptions } from "./objects/reading-options.ts";

export interface GcsSourceOptions {
  readonly buckets: readonly string[];
  readonly prefix: string;
  readonly project?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly anonymous: boolean;
  readonly endpoint?: string | undefined;
  readonly linkSeconds: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly pollMs: number;
}

export default defineSource<GcsSourceOptions>({
  name: "gcs",
  summary: "Objects of Google Cloud Storage",
  scheme: "gcs",
  options: (z) =>
    z.object({
      buckets: z
        .array(z.string().regex(/^[a-z0-9._-]+$/, "must be the name of a bucket"))
        .default([])
        .describe("the buckets to serve; all of the project unless said"),
      prefix: z.string().default("").describe("only names that begin so"),
      project: z.string().optional().describe("whose buckets are meant, where none are named"),
      keyFile: z
        .string()
        .min(1)
        .optional()
        .meta({ format: "path" })
        .describe("the key of a service account; what the machine is signed in as unless said"),
      anonymous: z.boolean().default(false).describe("ask without credentials, for what is public"),
      endpoint: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe("the address of an emulator"),
      ...readingOptions(z, "names"),
    }),
  base: ({ buckets }) => (buckets.length === 1 ? `gcs://${buckets[0]}/` : "gcs://"),
  aliases: ({ buckets }) => [buckets.length === 1 ? `gs://${buckets[0]}/` : "gs://"],
  usesCredentials: ({ anonymous }) => !anonymous,

  async open(options, runtime) {
    const emulator = process.env["STORAGE_EMULATOR_HOST"]?.replace(/^(?!\w+:\/\/)/, "http://");
    const store = createGcsStore({
      endpoint: options.endpoint ?? emulator ?? "https://storage.googleapis.com",
      project: options.project ?? process.env["GOOGLE_CLOUD_PROJECT"],
      identity: options.anonymous ? undefined : createGoogleIdentity(options.keyFile),
      timeoutMs: options.timeoutMs,
      now: runtime.now,
    });
    return createObjectSource({ ...options, store, versionName: "generation", runtime });
  },
});
