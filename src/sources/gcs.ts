/** Objects in Google Cloud Storage. */
import type { z as Zod } from "zod";
import { defineSource } from "../source.ts";
import { createGcsStore } from "./gcs/gcs-store.ts";
import { createGoogleIdentity } from "./gcs/identity.ts";
import { detectVariables } from "../backends/detections.ts";
import { createObjectSource } from "../backends/objects/object-source.ts";
import { readingOptions } from "../backends/objects/reading-options.ts";

function gcsOptions(z: typeof Zod) {
  return z.object({
    buckets: z
      .array(z.string().regex(/^[a-z0-9._-]+$/, "must be a valid bucket name"))
      .default([])
      .describe("Buckets to serve; empty for all of the project"),
    prefix: z.string().default("").describe("Only objects whose name starts with this prefix"),
    project: z.string().optional().describe("Project whose buckets are served if no buckets are named"),
    keyFile: z
      .string()
      .min(1)
      .optional()
      .meta({ format: "path" })
      .describe("Key file of a service account. Default: the application default credentials of the machine"),
    anonymous: z.boolean().default(false).describe("Send no credentials; only public objects can be read"),
    endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Address of an emulator"),
    ...readingOptions(z, "names"),
  });
}

export type GcsSourceOptions = Zod.output<ReturnType<typeof gcsOptions>>;

export default defineSource<GcsSourceOptions>({
  name: "gcs",
  summary: "Objects in Google Cloud Storage",
  scheme: "gcs",
  options: gcsOptions,
  base: ({ buckets }) => (buckets.length === 1 ? `gcs://${buckets[0]}/` : "gcs://"),
  aliases: ({ buckets }) => [buckets.length === 1 ? `gs://${buckets[0]}/` : "gs://"],
  usesCredentials: ({ anonymous }) => !anonymous,
  detect: (project) =>
    detectVariables(
      project,
      /^(?:GCS|GCP|GOOGLE_CLOUD)_(?:STORAGE_)?BUCKET(?:_NAME)?$/,
      "bucket of Google Cloud Storage",
      (bucket) => ({ buckets: [bucket] }),
    ),

  async open(options, runtime) {
    const emulator = runtime.env["STORAGE_EMULATOR_HOST"]?.replace(/^(?!\w+:\/\/)/, "http://");
    const store = createGcsStore({
      endpoint: options.endpoint ?? emulator ?? "https://storage.googleapis.com",
      project: options.project ?? runtime.env["GOOGLE_CLOUD_PROJECT"],
      identity: options.anonymous ? undefined : createGoogleIdentity(options.keyFile, runtime.env),
      timeoutMs: options.timeoutMs,
      now: runtime.now,
    });
    return createObjectSource({ ...options, store, versionName: "generation", runtime });
  },
});
