/** Objects of S3, and of everything that speaks it. */
import { defineSource } from "../source.ts";
import { createObjectSource } from "./objects/object-source.ts";
import { readingOptions } from "./objects/reading-options.ts";
import { createCredentials } from "./s3/credentials.ts";
import { createS3Store } from "./s3/s3-store.ts";

export interface S3SourceOptions {
  readonly buckets: readonly string[];
  readonly prefix: string;
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly pathStyle?: boolean | undefined;
  readonly anonymous: boolean;
  readonly profile?: string | undefined;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly linkSeconds: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly pollMs: number;
}

export default defineSource<S3SourceOptions>({
  name: "s3",
  summary: "Objects of S3 and of stores that speak it",
  scheme: "s3",
  options: (z) =>
    z.object({
      buckets: z
        .array(z.string().regex(/^[a-zA-Z0-9._-]+$/, "must be the name of a bucket"))
        .default([])
        .describe("the buckets to serve; all that the credentials open unless said"),
      prefix: z.string().default("").describe("only keys that begin so"),
      region: z
        .string()
        .regex(/^[\w-]+$/)
        .optional()
        .describe("where the buckets are; AWS_REGION, or us-east-1, unless said"),
      endpoint: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe("the address of a store that is not Amazon's"),
      pathStyle: z
        .boolean()
        .optional()
        .describe(
          "whether the bucket stands in the path, as most other stores want it; true with an endpoint unless said",
        ),
      anonymous: z.boolean().default(false).describe("ask without credentials, for what is public"),
      profile: z.string().optional().describe("the profile of the shared files to use"),
      accessKeyId: z.string().optional().describe("best as a reference, ${env:NAME}"),
      secretAccessKey: z.string().optional().describe("best as a reference, ${env:NAME}"),
      sessionToken: z.string().optional().describe("best as a reference, ${env:NAME}"),
      ...readingOptions(z, "keys"),
    }),
  base: ({ buckets }) => (buckets.length === 1 ? `s3://${buckets[0]}/` : "s3://"),
  usesCredentials: ({ anonymous }) => !anonymous,

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
