/** Without sessions: requests describe themselves, results have a freshness, changes come through listens. */
import { serverDiscover } from "../discovery.ts";
import { subscriptionsListen } from "../listen.ts";
import { resourcesDirectoryRead } from "../resources.ts";
import type { Revision } from "../revision.ts";
import { skillsGet, skillsList } from "../skills.ts";
import { errorCodes } from "./2024-10-07.ts";
import { revision20251125 } from "./2025-11-25.ts";

const asks = new Map([
  ...revision20251125.asks,
  ["server/discover", serverDiscover],
  ["subscriptions/listen", subscriptionsListen],
  ["resources/directory/read", resourcesDirectoryRead],
  ["skills/list", skillsList],
  ["skills/get", skillsGet],
]);
for (const gone of ["ping", "resources/subscribe", "resources/unsubscribe"]) asks.delete(gone);

export const revision20260728: Revision = {
  ...revision20251125,
  date: "2026-07-28",
  asks,
  has: { ...revision20251125.has, extensions: true },
  seal: (result, freshness, server) => ({
    resultType: "complete",
    ...result,
    ...(freshness && { ttlMs: Math.max(0, Math.floor(freshness.ttlMs)), cacheScope: freshness.scope }),
    _meta: { ...(result["_meta"] as object | undefined), "io.modelcontextprotocol/serverInfo": server },
  }),
  // https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
  errorCode: errorCodes(-32602),
};
