/**
 * No gateway reveals what read refuses: whether a hidden resource of another server exists or not, every response is the same.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { createProtocol } from "../protocol/create-protocol.ts";
import { createReadingTools } from "../protocol/tools/reading-tools.ts";
import type { Call } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import mcp from "../sources/mcp.ts";
import { segmentsOf } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { listen } from "../transport/listen.ts";
import { openPolicy, type Policy } from "./policy.ts";
import { askAll, encode, overEncode } from "./test-entry-points.ts";
import { createModel, createTree, type Hidden, isHidden, type MountPlan, plan } from "./test-plan.ts";

const call: Call = { caller: { id: "reader" }, signal: new AbortController().signal };
const { runtime } = createClock();
const cursorKey = new Uint8Array(32);

/** A server of these trees, over HTTP, and a gateway to it with these rules. */
async function openGateway(
  plans: readonly MountPlan[],
  policy: Policy,
  pageSize: number,
  exists: (mount: string, path: string) => boolean,
) {
  const mounts = plans.map((one) => {
    const { source } = createTree(one, (at) => exists(one.name, at));
    return { name: one.name, base: `${one.name}://m/`, source };
  });
  const upstream = createResources({ mounts, policy: openPolicy, runtime, cursorKey, pageSize: pageSize * 3 });
  const reading = createReadingTools({ resources: upstream, server: "up", mounts: () => mounts });
  const edge = createProtocol({ resources: upstream, server: { name: "up", version: "1" }, tools: reading });
  const listening = await listen(edge, { port: 0, graceMs: 0 });
  const source = await mcp.open(mcp.options(z).parse({ url: listening.url, era: "modern" }), runtime);
  const pressmark = createResources({
    mounts: [{ name: "far", base: "mcp://far/", source }],
    policy,
    runtime,
    cursorKey,
    pageSize,
  });
  return {
    pressmark,
    async [Symbol.asyncDispose]() {
      await pressmark.close();
      listening.server.closeAllConnections();
      await listening.close();
      await upstream.close();
    },
  };
}

/** Turns rules about the remote mounts into rules about local addresses. */
function policyOf(rules: Hidden): Policy {
  return {
    maySee(_caller, _mount, { path }) {
      const [head = "", ...rest] = segmentsOf(path);
      return head === "" || !isHidden(rules, head.replace(/:.*/, ""), rest.join("/"));
    },
  };
}

/** The entries that remain without the hidden ones: a directory stays while it is not empty, as on a server. */
function withoutHidden(plans: readonly MountPlan[], rules: Hidden): (mount: string, path: string) => boolean {
  const seen = new Map(
    plans.map((one) => [one.name, [...createModel(one).keys()].filter((at) => !isHidden(rules, one.name, at))]),
  );
  return (mount, path) =>
    (seen.get(mount) ?? []).some((at) => at === path || (at !== "" && at.startsWith(path === "" ? "" : `${path}/`)));
}

it("no gateway reveals what read refuses", async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ mounts, hidden: [rules], pageSize }) => {
      // A listed entry shows that its server exists, like a directory that is not empty; so it exists in both.
      const plans = mounts
        .slice(0, 1)
        .map((one) => ({ ...one, lists: true, nodes: { ...one.nodes, seen: { kind: "text" as const, text: "tea" } } }));
      const policy = policyOf(rules!);
      await using real = await openGateway(plans, policy, pageSize, () => true);
      await using bare = await openGateway(plans, policy, pageSize, withoutHidden(plans, rules!));
      const uris = plans.flatMap(({ name, nodes }) => {
        const paths = ["", "nowhere", ...Object.keys(nodes).slice(0, 5)];
        const start = `mcp://far/${name}:%2F%2Fm`;
        return [
          ...paths.map((at) => (at === "" ? start : `${start}/${encode(at)}`)),
          ...paths
            .slice(2, 4)
            .flatMap((at) => [
              `${start}/${overEncode(encode(at))}`,
              `mcp://far/${name}://m/${encode(at)}`,
              `mcp://far/${name.toUpperCase()}:%2F%2Fm/${encode(at)}`,
            ]),
        ];
      });
      const templates = plans.map(({ name }) => `mcp://far/${name}:%2F%2Fm/`);
      const ask = ({ pressmark }: typeof real) => askAll(pressmark, ["mcp://far", ...uris], templates, call);
      expect(await ask(real)).toEqual(await ask(bare));
    }),
    { numRuns: 10, endOnFailure: true },
  );
}, 60_000);
