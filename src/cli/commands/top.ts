/** `pressmark top`: shows what running servers do. */
import { ResourceError } from "../../errors.ts";
import { wait } from "../../lib/wait.ts";
import { type CommandContext, defineCommand, flag, many, textFlag, valueFlag, wholeNumber } from "../command.ts";
import { jsonLine, print } from "../print.ts";
import { resourceAccessFlags } from "../reading/resource-access.ts";
import { figuresOf, type MetricsLook } from "../top/instance-figures.ts";
import { lookAt, metricsUrl } from "../top/look-at.ts";
import { type ShownInstance, showFigures } from "../top/show-figures.ts";

const firstInterval = 2;
const enterScreen = "\u001b[?1049h\u001b[?25l";
const leaveScreen = "\u001b[?25h\u001b[?1049l";

export default defineCommand({
  name: "top",
  summary: "Show what running servers do",
  more: "Shows requests, errors, response times, listens, the index, the bus, leases and memory of each server, from its /metrics, again every two seconds. It needs the token of an owner if the server requires tokens. The first figures, and those of --once, are about the time since the server started. Stop it with Ctrl-C.",
  examples: [
    "pressmark top",
    "pressmark top https://a.example https://b.example --token-file ~/.pressmark-token",
    "pressmark top --once --json",
  ],
  takes: { url: many("Address of a server. Default: http://127.0.0.1:7357") },
  flags: {
    once: flag("Print once, and end; exit code 1 if a server does not answer"),
    json: flag("Print one JSON object per line and server"),
    interval: valueFlag("SECONDS", "Seconds between two looks", {
      initial: firstInterval,
      initially: String(firstInterval),
      parse: wholeNumber(1),
    }),
    "token-file": textFlag("FILE", "File with the token of an owner", "files"),
    header: resourceAccessFlags.header,
  },
  async run({ url: given, flags: { once, json, interval, "token-file": tokenFile, header } }, world) {
    const urls = (given.length > 0 ? given : ["http://127.0.0.1:7357"]).map(metricsUrl);
    const headers = await headersOf(header, tokenFile, world);
    const before = new Map<string, MetricsLook>();

    async function look(url: URL): Promise<ShownInstance> {
      const shown = url.href.replace(/\/metrics$/, "");
      try {
        const now = await lookAt(url, headers, world.signal);
        const figures = figuresOf(now, before.get(url.href));
        before.set(url.href, now);
        return { url: shown, figures };
      } catch (cause) {
        if (!(cause instanceof ResourceError)) throw cause;
        before.delete(url.href);
        return { url: shown, problem: cause.message };
      }
    }

    const lookAtAll = () => Promise.all(urls.map(look));
    if (once) {
      const all = await lookAtAll();
      await print(world.out, json ? asJson(all) : asText(all));
      return all.some(({ problem }) => problem !== undefined) ? 1 : 0;
    }
    const isScreen = world.out.isTTY === true && !json;
    try {
      if (isScreen) await print(world.out, enterScreen);
      while (!world.signal.aborted) {
        const all = await lookAtAll();
        if (world.signal.aborted) break;
        await print(world.out, json ? asJson(all) : isScreen ? asScreen(all, world) : asText(all));
        // Being stopped is the normal end.
        await wait(interval * 1000, world.signal).catch(() => undefined);
      }
    } finally {
      if (isScreen) await print(world.out, leaveScreen);
    }
  },
});

async function headersOf(
  header: readonly string[],
  file: string | undefined,
  { env, folder }: CommandContext,
): Promise<Record<string, string>> {
  const [{ readHeaders }, { findToken }] = await Promise.all([
    import("../reading/headers.ts"),
    import("../../server/find-token.ts"),
  ]);
  const headers = { ...(await readHeaders(header, { env, folder })) };
  // A token of the environment is for another server, perhaps.
  const token = file === undefined ? undefined : await findToken({ file, from: folder, env: {} });
  return token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` };
}

function asText(all: readonly ShownInstance[]): string {
  return `${showFigures(all).join("\n")}\n`;
}

function asJson(all: readonly ShownInstance[]): string {
  return all.map(({ url, figures, problem }) => jsonLine({ url, ...figures, problem })).join("");
}

/** Overwrites the screen without emptying it first, which would flicker. */
function asScreen(all: readonly ShownInstance[], { out: { columns, rows = 24 } }: CommandContext): string {
  const lines = [...showFigures(all, columns), "", "Ctrl-C ends"].slice(0, rows - 1);
  return `\u001b[H${lines.map((line) => `${line}\u001b[K\n`).join("")}\u001b[J`;
}
