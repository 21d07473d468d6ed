import { expect, it } from "vitest";
import { hostSetups } from "../../src/config/hosts/host-setups.ts";
import { withServerName } from "../../src/picker/with-server-name.ts";

/** The folder has the default name, too, and must keep it. */
const stdio = {
  words: ["/srv/pressmark"],
  env: { HOME: "/home/pressmark" },
  program: "/opt/pressmark/bin/pressmark.js",
};
const url = "http://pressmark.example/mcp";

it.each([undefined, "PRESSMARK_TOKEN"])("changes the name of the server for every host, and nothing else", (token) => {
  const setups = hostSetups({ url, stdio, ...(token !== undefined && { tokenVariable: token }) });
  for (const { host, http, stdio: own } of setups)
    for (const way of [http, own]) {
      // It gives servers no name.
      if (!way || host === "Inspector") continue;
      const { links = [], text } = way;
      const named = withServerName(
        { isCommand: way.kind === "command", file: way.file, text, links: [...links] },
        "docs_2",
      );
      expect([host, differenceOf(text, named.text)]).toEqual([host, ["pressmark", "docs_2"]]);
      for (const [at, link] of links.entries())
        expect([host, differenceOf(link.url, named.links[at]!.url)]).toEqual([host, ["pressmark", "docs_2"]]);
    }
});

/** Without the same beginning and end. */
function differenceOf(before: string, after: string): [string, string] {
  let start = 0;
  while (before[start] === after[start] && start < before.length) start += 1;
  let end = 0;
  while (before.at(-1 - end) === after.at(-1 - end) && end < before.length - start) end += 1;
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}
