/** The options of the web source. */
import type { z as Zod } from "zod";
import { intOption } from "../../lib/int-option.ts";

export function webOptions(z: typeof Zod) {
  return z.object({
    hosts: z
      .array(
        z.union([
          z.string().min(1),
          z.strictObject({
            host: z.string().min(1).describe("Host, without a wildcard"),
            headers: z
              .record(z.string(), z.string())
              .describe("Headers for this host only; write each value as a reference: ${env:NAME}"),
          }),
        ]),
      )
      .default([])
      .describe('Hosts whose pages may be read: "docs.example.com", "*.example.com", "http://intranet:8080"'),
    sites: z
      .array(z.string().min(1))
      .default([])
      .describe(
        "Sites whose pages are listed: URLs of a sitemap.xml or llms.txt, or of a host that has one; their hosts are allowed automatically",
      ),
    maxPages: intOption(z, 1, 5000, 500).describe("Number of pages that are listed of each site"),
    refreshMs: intOption(z, 60_000, 86_400_000, 3_600_000).describe(
      "Time after which the list of a site's pages is read again, in milliseconds",
    ),
    pages: z
      .array(
        z.union([
          z.string().min(1),
          z.strictObject({
            url: z.string().min(1).describe("URL of the page"),
            title: z.string().optional().describe("Title of the page"),
            description: z.string().optional().describe("Description of the page"),
            priority: z.number().min(0).max(1).optional().describe("Priority, from 0 to 1"),
            audience: z
              .array(z.enum(["user", "assistant"]))
              .optional()
              .describe("Audience of the page"),
          }),
        ]),
      )
      .default([])
      .describe("Pages to list; their hosts are allowed automatically"),
    direct: z
      .boolean()
      .default(false)
      .describe("List pages under their own https:// URLs, for clients that fetch them directly"),
    robots: z.boolean().default(true).describe("Obey robots.txt"),
    allowAddresses: z
      .array(z.string().min(1))
      .default([])
      .describe('Private addresses that may be contacted: "10.1.2.3", "10.1.0.0/16"'),
    maxBytes: intOption(z, 1, 64 * 1024 * 1024, 5 * 1024 * 1024).describe("Largest page that is read, in bytes"),
    timeoutMs: intOption(z, 1, 300_000, 20_000).describe(
      "Time limit for a page, including robots.txt, redirects and all attempts, in milliseconds",
    ),
    pollMs: intOption(z, 1000, 86_400_000, 300_000).describe(
      "Polling interval while pages are watched, in milliseconds",
    ),
  });
}

export type WebOptions = Zod.output<ReturnType<typeof webOptions>>;
