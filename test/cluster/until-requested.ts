/** Waits until an instance answers reads: `node until-requested.ts URL TOKEN`, while clients read through the proxy alone. */
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
  if (performance.now() > endMs) throw new Error(`no read has reached ${url}; its figures: ${seen.slice(0, 2000)}`);
  await wait(50);
}
