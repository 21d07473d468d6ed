/** The robots.txt of each site, fetched once an hour; after a failure, once a minute. */
import { unavailable } from "../../errors.ts";
import { Lru } from "../../lib/lru.ts";
import type { Runtime } from "../../source.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";
import { parseRobots, type Robots } from "./robots.ts";

export type SiteRules = (url: URL) => Promise<Robots>;

const keptMs = 60 * 60 * 1000;
/** A robots.txt that cannot be read is requested again only after this time: a list may name hundreds of pages of its site. */
const retryMs = 60_000;
const maxSites = 100;

export function createSiteRules(
  runtime: Pick<Runtime, "monotonicMs">,
  fetchRules: (url: URL) => Promise<FetchedResponse>,
): SiteRules {
  const kept = new Lru<string, { until: number; readonly robots: Promise<Robots> }>({ maxEntries: maxSites });

  /** A missing robots.txt allows everything; an unavailable one allows nothing until it can be read. */
  async function read(origin: string): Promise<Robots> {
    const { status, bytes } = await fetchRules(new URL("/robots.txt", origin));
    if (status >= 500 || status === 429) throw unavailable(`robots.txt of the site cannot be read (status ${status})`);
    return parseRobots(status === 200 ? bytes.toString("utf8") : "", "pressmark");
  }

  return ({ origin }) => {
    const known = kept.get(origin);
    if (known && known.until > runtime.monotonicMs()) return known.robots;
    const robots = read(origin);
    const entry = { until: runtime.monotonicMs() + keptMs, robots };
    kept.set(origin, entry);
    robots.catch(() => {
      entry.until = runtime.monotonicMs() + retryMs;
    });
    return robots;
  };
}
