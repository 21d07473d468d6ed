/** Reads `/metrics` of a server. */
import { denied, invalid, quote, ResourceError } from "../../errors.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { takeUpTo } from "../../lib/read-bounded.ts";
import type { MetricsLook } from "./instance-figures.ts";
import { parseMetrics } from "./parse-metrics.ts";

const answerMs = 5000;
const maxBytes = 16 * 1024 * 1024;

/** The address of the figures, whichever path of the server is given. */
export function metricsUrl(server: string): URL {
  const url = URL.parse(server) ?? URL.parse(`http://${server}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw invalid(`${quote(server, 100)} is not a server address; write it as http://127.0.0.1:7357`);
  if (url.username !== "" || url.password !== "")
    throw invalid(`the address of ${quote(url.host)} contains a password; pass a token with --token-file`);
  url.pathname = url.pathname.replace(/\/(?:mcp|metrics)?\/?$/, "/metrics");
  url.search = "";
  url.hash = "";
  return url;
}

/** Throws "denied" without the token of an owner, and "unavailable" if there is no server. */
export async function lookAt(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<MetricsLook> {
  const response = await fetch(url, {
    headers,
    // It could lead to another server, with the token.
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  }).catch((cause: unknown) => {
    throw new ResourceError("unavailable", signal.aborted ? "cancelled" : "does not answer; is it running?", { cause });
  });
  if (response.status === 401 || response.status === 404)
    throw denied("shows its figures to an owner only; pass the token of one with --token-file");
  if (!response.ok) throw new ResourceError("unavailable", `answers with status ${response.status}`);
  const bytes = await takeUpTo(maxBytes, response.body);
  const samples = parseMetrics(bytes?.toString("utf8") ?? "");
  const started = samples.get("process_start_time_seconds")?.[0]?.value;
  if (started === undefined || !samples.has("pressmark_info"))
    throw new ResourceError("unavailable", "is no Pressmark server, or an old one");
  const toldMs = Date.parse(response.headers.get("date") ?? "");
  // The header has whole seconds.
  return { samples, atMs: monotonicMs(), uptimeSeconds: Math.max(1, toldMs / 1000 - started) };
}
