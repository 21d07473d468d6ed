/** `pressmark may`: says whether a caller may see a resource, and which rule decides. */
import type { AccessSettings } from "../../config/access.ts";
import { denied, notFound } from "../../errors.ts";
import type { Caller } from "../../resources.ts";
import { defineCommand, flag, one, textFlag } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";
import { unknownCaller } from "../unknown-caller.ts";

export default defineCommand({
  name: "may",
  summary: "Say whether a caller may see a resource, and which rule decides",
  more: "Callers and rules are in the config. The exit code is 3 if the caller may not see it.",
  examples: ["pressmark may aki docs/handbook.md", "pressmark may aki git://history/log --json"],
  takes: { caller: one("Name of the caller"), where: one("Resource (URI or path)", "files") },
  flags: {
    json: flag("Print one JSON object"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  async run({ caller: name, where, flags }, world) {
    const { openServer } = await import("../../server/open-server.ts");
    const { folder: from, env, err, out, signal } = world;
    const pressmark = await openServer({ folders: [], config: flags.config, from, env, err });
    try {
      if (!pressmark.access)
        throw denied("the rules of this config are not trusted yet; review it, then run: pressmark trust");
      const { callers, rules } = pressmark.access;
      const found = callers.find((each) => each.name === name);
      if (!found)
        throw unknownCaller(
          name,
          callers.map((each) => each.name),
        );
      const caller: Caller = { id: name, groups: found.groups, owner: found.owner };
      const uri = await pressmark.locate(where, { caller: { id: "local", owner: true }, signal });
      const decision = pressmark.explain(caller, uri);
      if (!decision) throw notFound(uri);
      const { isAllowed, rule, mount } = decision;
      const why = reasonOf(found.owner === true, rules, rule);
      await print(
        out,
        flags.json
          ? jsonLine({ caller: name, uri, mount, isAllowed, rule: rule === undefined ? undefined : rule + 1, why })
          : `${plain(name)} ${isAllowed ? "may" : "may not"} see ${plain(uri)}: ${plain(why)}\n`,
      );
      if (!isAllowed) throw denied(`${name} may not see it`);
    } finally {
      await pressmark.close();
    }
  },
});

function reasonOf(isOwner: boolean, rules: AccessSettings["rules"], index: number | undefined): string {
  if (isOwner) return "an owner sees everything";
  if (rules.length === 0) return "the config has no rules, so everyone sees everything";
  const rule = index === undefined ? undefined : rules[index];
  if (!rule) return "no rule allows it";
  const parts = Object.entries(rule)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${(value as readonly string[]).join(", ")}`);
  return `rule ${index! + 1} (${parts.join("; ")})`;
}
