/** Objects in S3 and in stores with the same API. */
import type { z as Zod } from "zod";
import { defineSource } from "../source.ts";
import { detectContainers, detectVariables } from "../backends/detections.ts";
import { createObjectSource } from "../backends/objects/object-source.ts";
import { readingOptions } from "../backends/objects/reading-options.ts";
import { createCredentials } from "./s3/credentials.ts";
import { createS3Store } from "./s3/s3-store.ts";

function s3Options(z: typeof Zod) {
  return z.object({
    buckets: z
      .array(z.string().regex(/^[a-zA-Z0-9._-]+$/, "must be a valid bucket name"))
      .default([])
      .describe("Buckets to serve; empty for all that the credentials can list"),
    prefix: z.string().default("").describe("Only keys that start with this prefix"),
    region: z
      .string()
      .regex(/^[\w-]+$/)
      .optional()
      .describe("Region of the buckets. Default: AWS_REGION, else us-east-1"),
    endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Address of a store other than Amazon's"),
    pathStyle: z
      .boolean()
      .optional()
      .describe(
        "Whether the bucket is part of the path instead of the host name. Default: true with an endpoint, else false",
      ),
    anonymous: z.boolean().default(false).describe("Send no credentials; only public objects can be read"),
    profile: z.string().optional().describe("Profile in the shared AWS config and credentials files"),
    accessKeyId: z.string().optional().describe("Access key id; best as a reference, ${env:NAME}"),
    secretAccessKey: z.string().optional().describe("Secret access key; best as a reference, ${env:NAME}"),
    sessionToken: z.string().optional().describe("Session token; best as a reference, ${env:NAME}"),
    ...readingOptions(z, "keys"),
  });
}

export type S3SourceOptions = Zod.output<ReturnType<typeof s3Options>>;

export default defineSource<S3SourceOptions>({
  name: "s3",
  summary: "Objects in S3 and in stores with the same API",
  scheme: "s3",
  options: s3Options,
  base: ({ buckets }) => (buckets.length === 1 ? `s3://${buckets[0]}/` : "s3://"),
  usesCredentials: ({ anonymous }) => !anonymous,
  detect: (project) => [
    ...detectContainers(project, /^(?:minio|garage|seaweedfs|localstack(?:-pro)?)$/, "object store", ({ portFor }) => ({
      endpoint: `http://127.0.0.1:${portFor(9000) ?? 9000}`,
    })),
    ...detectVariables(project, /^(?:AWS_)?S3_BUCKET(?:_NAME)?$/, "bucket of S3", (bucket) => ({ buckets: [bucket] })),
  ],

  async open(options, runtime) {
    const { env } = process;
    const endpoint = options.endpoint ?? env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"];
    const store = createS3Store({
      region: options.region ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1",
      endpoint,
      pathStyle: options.pathStyle ?? endpoint !== undefined,
      credentials: options.anonymous ? undefined : createCredentials(options, env, runtime.now),
      timeoutMs: options.timeoutMs,
    });
    return createObjectSource({ ...options, store, versionName: "versionId", runtime });
  },
});
