/**
 * The wall clock may be set back or forward at any time. Time limits, delays, leases and ages are measured with the monotonic clock; the
 * wall clock is for what is shown or stored, in the files that are named here.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, it } from "vitest";

const allowed: Readonly<Record<string, string>> = {
  "lib/file-clock-ms.ts": "compared with the times that the system stamps files with",
  "auth/builtin/create-provider.ts": "passes the clock on",
  "auth/builtin/provider-adapter.ts": "stored: when a grant and a refresh token expire",
  "auth/builtin/open-oauth-store.ts": "passes the clock on",
  "auth/builtin/shared-oauth-store.ts": "stored: when a grant and a refresh token expire",
  "auth/builtin/open-builtin.ts": "compared with the time that a token expires, as it says",
  "state/file-store.ts": "stored: when a record expires",
  "server/examine-state.ts": "compared with the clock of the database",
  "server/embedded-state.ts": "passes the clock on",
  "server/move-embedded.ts": "compared with the time that a grant expires, which is stored",
  "cli/main.ts": "shown in the log",
  "cli/commands/backup.ts": "stored: when the backup was made",
  "server/runtime.ts": "passes the clock to sources",
  "server/delivery-log.ts": "shown: when something was given",
  "server/log-redaction.ts": "passes the clock on",
  "server/activity-log.ts": "shown: when a client was last seen",
  "server/mount-health.ts": "shown: when a mount was checked",
  "server/health.ts": "compared with the dates of the certificate",
  "server/search/indexer-thread.ts": "compared with the time that a file was written",
  "server/sets/saved-sets.ts": "compared with the time that a file was written",
  "config/hosts/settings.ts": "part of the name of a copy",
  "search/query.ts": "resolves 'a week ago' in a query",
  "picker/use-live-resource.ts": "shown: the time of what is shown",
  "search/postgres/search-passages.ts": "compared with the time that a resource was modified",
  "search/sqlite-store.ts": "compared with the time that a resource was modified",
  "cli/reading/filters.ts": "resolves 'yesterday' on the command line",
  "cli/examine-setup.ts": "compared with the time that a token expires, which is stored",
  "cli/commands/audit.ts": "resolves 'yesterday' on the command line",
  "server/audit-log.ts": "part of the name of a file",
  "server/audit-sink.ts": "stored: when something happened",
  "cli/record-event.ts": "stored: when something happened",
  "server/certificate.ts": "whether the certificate has expired",
  "cli/commands/token.ts": "stored: when a token was created and when it expires",
  "auth/issuer.ts": "compared with the time that a token expires, as the issuer said",
  "auth/oauth-callers.ts": "compared with the time that a token expires, as the issuer said",
  "server/admissions.ts": "compared with the time that a token expires, which is stored",
  "cli/commands/watch.ts": "shown: when a change was reported",
  "picker/create-treeing.ts": "shown: when a resource changed",
  "picker/connect-page.tsx": "shown: how long ago something was",
  "picker/create-previewing.ts": "shown: when a resource changed",
  "picker/create-searching.ts": "compared with the time that a resource was modified",
  "picker/state-page.tsx": "shown: how long ago something was",
  "picker/activity-page.tsx": "shown: how long ago something was given",
  "picker/app.tsx": "shown: how long ago something was",
  "picker/live-dialog.tsx": "shown: how long ago something was read",
  "sources/gcs.ts": "part of a signature that the server checks",
  "sources/redis.ts": "shown: when a value expires",
  "sources/s3.ts": "compared with the time that credentials expire, as the server said",
  "sources/metrics.ts": "end of the requested time range",
  "sources/metrics/watch.ts": "the requested moment",
  "sources/gdrive/push.ts":
    "compared with the time that a channel expires, as Drive said; the monotonic clock decides as well",
  "sources/gdrive/sync.ts": "stored: when the stored state was last synchronised, for other processes",
  "sources/gdrive/drive-source.ts": "compared with the time that a permission expires, as Drive said",
  "sources/metrics/complete.ts": "the requested moment",
  "sources/web.ts": "compared with the stored time of the last request of a page",
  "sources/web/page-reader.ts":
    "stored: when a page was requested; and compared with the time to retry, as the site said",
  "sources/web/pace.ts": "compared with the time to retry, as the site said",
  "sources/web/sites.ts": "compared with the day of a change, as the sitemap says, and the time to retry",
  "sources/analysis.ts": "shown: whether a result has expired",
  "sources/analysis/create-store.ts": "stored: when results were made, and when they expire",
  "sources/analysis/computations.ts": "compared with the time that a result expires, which is stored",
  "sources/analysis/sqlite-database.ts": "stored: when results were made, and when they expire",
  "sources/analysis/watch.ts": "compared with the time that a result expires, which is stored",
  "sources/analysis/analysis-actions.ts": "shown: when a result expires",
  "sources/analysis/reading.ts": "shown: when a result expires",
};

const wallClock = /\bDate\.now\b|\bnew Date\(\)|\bruntime\.now\b|\bRuntime\["now"\]|\{ now\b/;
/** Tests, their support files, and fake servers. */
const ofTests = /(?:\.test|(?:^|\/)test-[^/]*)\.tsx?$|^testing\//;

function filesWith(pattern: RegExp): string[] {
  return readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(sep).join("/"))
    .filter((name) => /\.tsx?$/.test(name) && !ofTests.test(name))
    .filter((name) => pattern.test(readFileSync(join(import.meta.dirname, name), "utf8")))
    .toSorted();
}

it("the wall clock is read only for what is shown or stored", () => {
  const reading = filesWith(wallClock);
  expect(
    reading.filter((file) => !(file in allowed)),
    "these read the wall clock: use monotonicMs, or add the file with its reason to `allowed`",
  ).toEqual([]);
  expect(
    Object.keys(allowed).filter((file) => !reading.includes(file)),
    "these no longer read it: remove them from `allowed`",
  ).toEqual([]);
});

/** Sources get the environment from `Runtime`, so that a test can pass its own. */
const readEnvironment = [
  "backends/folder-rules/git-excludes.ts",
  "cli/run.ts",
  "lib/v8-memory.ts",
  "server/runtime.ts",
];

it("the environment is read only where the program starts", () => {
  expect(filesWith(/\bprocess\.env\b/)).toEqual(readEnvironment);
});
