/** `pressmark audit`: shows who read what, from the audit log of a server. */
import type { AuditEntry } from "../../server/audit-log.ts";
import { defineCommand, flag, oneOf, textFlag, valueFlag } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";
import { toMoment } from "../reading/filters.ts";

const outcomes = ["allowed", "denied", "missing", "failed"] as const;

export default defineCommand({
  name: "audit",
  summary: "Show who read what, from the audit log",
  more: "The log is written if server.audit is set in the config. It contains reads, searches, actions, watches, sign-ins, changed tokens, trust and configs, and never content.",
  examples: ["pressmark audit --caller aki --since 7d", "pressmark audit --outcome denied --json"],
  flags: {
    caller: textFlag("NAME", "Only of this caller"),
    uri: textFlag("PATTERN", "Only URIs that match, such as **/secrets/**"),
    outcome: valueFlag("OUTCOME", "Only with this outcome", { offer: outcomes, parse: oneOf(outcomes) }),
    since: valueFlag("TIME", "Only since then: 2h, 3d, today, 2026-11-01", {
      parse: (text) => toMoment(text, Date.now()),
    }),
    json: flag("Print one JSON object per line"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  async run({ flags }, world) {
    const { certainServerOf, findConfigState, withShared } = await import("../config-state.ts");
    const { createAuditUriFilter } = await import("../../server/audit-entry.ts");
    const { readAudit } = await import("../../server/open-audit-log.ts");
    const { origin, state, file } = await findConfigState(flags.config, world);
    const isAbout = flags.uri === undefined ? undefined : createAuditUriFilter(flags.uri);
    const isWanted = (entry: AuditEntry) => hasMembers(entry) && (isAbout?.(entry) ?? true);
    const hasMembers = ({ caller, outcome, time }: AuditEntry) =>
      (flags.caller === undefined || caller === flags.caller) &&
      (flags.outcome === undefined || outcome === flags.outcome) &&
      (flags.since === undefined || Date.parse(time) >= flags.since);
    let count = 0;
    await withShared({ server: await certainServerOf(origin, state, world), file }, world, async (shared) => {
      for await (const entry of await readAudit({ stateFolder: state, config: file, shared })) {
        if (!isWanted(entry)) continue;
        count += 1;
        await print(world.out, flags.json ? jsonLine(entry) : lineOf(entry));
      }
    });
    if (count === 0)
      world.err.write("pressmark: nothing is recorded that matches; a server records if server.audit is set\n");
  },
});

function lineOf({
  time,
  what,
  caller = "-",
  address,
  instance,
  outcome,
  uri,
  uris = [],
  query,
  detail,
  bytes,
  count,
  rule,
  cut,
}: AuditEntry): string {
  const more = [
    uri === undefined ? undefined : plain(uri),
    cut?.uri && `cut from ${cut.uri.bytes} bytes, SHA-256 ${plain(cut.uri.sha256)}`,
    uris.length === 0 ? undefined : `${uris.length} URIs: ${uris.map((each) => plain(each)).join(" ")}`,
    query === undefined ? undefined : JSON.stringify(query),
    detail === undefined ? undefined : plain(detail),
    bytes === undefined ? undefined : `${bytes} bytes`,
    count === undefined ? undefined : `${count} ${count === 1 ? "hit" : "hits"}`,
    rule === undefined ? undefined : `rule ${rule}`,
    address === undefined ? undefined : `from ${plain(address)}`,
    instance === undefined ? undefined : `on ${plain(instance)}`,
  ].filter((part) => part !== undefined);
  return `${time}  ${outcome.padEnd(7)}  ${plain(caller)}  ${what}  ${more.join(", ")}\n`;
}
