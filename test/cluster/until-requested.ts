/** Waits until the proxy sends reads to an instance, while clients read through the proxy alone: `node until-requested.ts URL TOKEN`. */
import { setTimeout as wait } from "node:timers/promises";

const [url, token] = process.argv.slice(2);
const metrics = new URL("/metrics", url);
const endMs = performance.now() + 30_000;
for (;;) {
  const seen = await fetch(metrics, { headers: { Authorization: `Bearer ${token}` } }).then(
    (response) => response.text(),
    (cause: unknown) => String(cause),
  );
  if (/^pressmark_requests_total\{[^}]*method="resources\/read"/m.test(seen)) break;
  if (performance.now() > endMs) throw new Error(`no read has reached ${url}; its metrics: ${seen.slice(0, 2000)}`);
  await wait(50);
}
