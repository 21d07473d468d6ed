/** `pressmark doctor`: checks the setup and says how to fix what is broken. */
import { ResourceError } from "../../errors.ts";
import type { CheckResult } from "../../server/examine.ts";
import { defineCommand, flag, textFlag } from "../command.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "doctor",
  summary: "Check the setup, and say how to fix what is broken",
  more: "Checks Node, the config and its trust, the shared database and bus of server.state, every mount (list, read, watch), whether one mount shows what another masks, callers and rules, the resources that sets name, the search index, the server's address and certificate, and the settings of installed hosts, some of which are asked for the state of the entry. A mount with a problem does not keep the others from being checked. The exit code is 1 if something is broken; an optional mount that is missing on this machine is not.",
  examples: ["pressmark doctor", "pressmark doctor --json | jq '.[] | select(.state == \"broken\")'"],
  flags: {
    json: flag("Print JSON"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  async run({ flags: { json, config } }, world) {
    const { examineSetup } = await import("../examine-setup.ts");
    const findings = await examineSetup(config, world);
    await print(world.out, json ? `${JSON.stringify(findings, undefined, 2)}\n` : findings.map(asLines).join(""));
    const broken = findings.filter(({ state }) => state === "broken").length;
    if (broken > 0)
      throw new ResourceError(
        "unavailable",
        broken === 1 ? "one check failed; see above" : `${broken} checks failed; see above`,
      );
  },
});

const marks = { ok: "ok     ", hint: "hint   ", broken: "BROKEN " } as const;

export function asLines({ about, state, says, advice }: CheckResult): string {
  const lines = [`${marks[state]} ${plain(about)}: ${says.split("\n").map(plain).join("\n          ")}`];
  if (advice !== undefined) lines.push(`          → ${plain(advice)}`);
  return lines.map((line) => `${line}\n`).join("");
}
