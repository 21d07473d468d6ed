/** Nothing that changes is missed, whatever happens on the way. */
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, type ConnectOptions, type RemoteServer } from "../../src/client/connect.ts";
import { ResourceError } from "../../src/errors.ts";
import type { Call, Change } from "../../src/resources.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { openLossyProxy } from "./lossy-proxy.ts";
import { openNotes } from "./notes.ts";

const patience = { firstMs: 5, longestMs: 50 };
const legs: readonly { readonly name: string; readonly oldest?: boolean; readonly options: ConnectOptions }[] = [
  { name: "modern", options: { era: "modern", patience } },
  { name: "legacy", options: { era: "legacy", patience } },
  { name: "HTTP with SSE", options: { patience }, oldest: true },
];

const names = ["a", "b", "c", "d"];
const notes = () => openNotes(Object.fromEntries(names.map((name) => [name, "0"])));

function caller(): { readonly call: Call; stop(): void } {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { call: { caller: { id: "test" }, signal: stop.signal }, stop: () => stop.abort() };
}

async function textOf(pressmark: RemoteServer, uri: string, call: Call): Promise<string> {
  const [content] = (await pressmark.read(uri, call)).contents;
  return content && "text" in content.body ? content.body.text : "";
}

/** Reads whatever is said to have changed, until all is as it should be. */
async function follow(
  changes: AsyncIterable<Change>,
  read: (uri: string) => Promise<string>,
  isDone: (seen: ReadonlyMap<string, string>) => boolean,
): Promise<void> {
  const seen = new Map<string, string>();
  const iterator = changes[Symbol.asyncIterator]();
  const again = new Set<string>();
  while (!isDone(seen)) {
    if (again.size === 0) {
      const { done, value } = await iterator.next();
      if (done) throw new Error("the watch ended");
      if (value.kind === "updated") again.add(value.uri);
    }
    for (const uri of again)
      try {
        seen.set(uri, await read(uri));
        again.delete(uri);
      } catch (cause) {
        // The network failed three times in a row; a host would try again, and so does this one.
        if (!(cause instanceof ResourceError) || !cause.passing) throw cause;
      }
  }
}

for (const { name, options, oldest } of legs)
  describe(`a watch over a network that fails, ${name}`, () => {
    it.each([1, 2, 3, 4, 5, 6])("hears of every last change (seed %i)", async (seed) => {
      await using pressmark = await notes();
      await using proxy = await openLossyProxy(oldest ? pressmark.sseUrl : pressmark.url, { seed, maxFaults: 25 });
      const remote = await connected(proxy.url, options);
      const { call } = caller();
      const uris = names.map(pressmark.uriOf);
      const watch = await insist(() => remote.watch({ uris }, call));
      expect([...watch.uris].sort()).toEqual(uris);

      const rounds = 12;
      const following = follow(
        watch,
        (uri) => textOf(remote, uri, call),
        (seen) => uris.every((uri) => seen.get(uri) === String(rounds)),
      );
      // It is waited for below, unless something else fails before.
      following.catch(() => undefined);
      for (let round = 1; round <= rounds; round += 1)
        for (const each of names) {
          pressmark.set(each, String(round));
          await new Promise((resolve) => setImmediate(resolve));
        }
      await following;
      await remote.close();
    });

    it("is armed again after its stream was cut, and is told to look again", async () => {
      await using pressmark = await notes();
      await using proxy = await openLossyProxy(oldest ? pressmark.sseUrl : pressmark.url);
      const remote = await connected(proxy.url, options);
      const { call } = caller();
      const uri = pressmark.uriOf("a");
      const { heard, until } = collectChanges(await remote.watch({ uris: [uri], list: true }, call));
      for (const round of [1, 2]) {
        const before = heard.length;
        proxy.block();
        // While no one can hear it.
        pressmark.set("a", `cut ${round}`);
        pressmark.set(`new ${round}`, "");
        proxy.unblock();
        await until(() => heard.slice(before).some(({ kind }) => kind === "updated"), "that it may have changed");
        await until(() => heard.slice(before).some(({ kind }) => kind === "list-changed"), "that the list may have");
        expect(await textOf(remote, uri, call)).toBe(`cut ${round}`);
      }
      await remote.close();
    });

    it("outlives a restart of the server", async () => {
      await using pressmark = await notes();
      const remote = await connected(oldest ? pressmark.sseUrl : pressmark.url, options);
      const { call } = caller();
      const uri = pressmark.uriOf("a");
      const { heard, until } = collectChanges(await remote.watch({ uris: [uri] }, call));
      await pressmark.restart();
      await until(({ kind }) => kind === "updated", "that it may have changed");
      const before = heard.length;
      pressmark.set("a", "after");
      await until(() => heard.length > before, "that it changed");
      expect(await textOf(remote, uri, call)).toBe("after");
      await remote.close();
    });

    it("watches again what was away when it was armed again, once it is back", async () => {
      await using pressmark = await notes();
      const remote = await connected(oldest ? pressmark.sseUrl : pressmark.url, options);
      const { call } = caller();
      const uri = pressmark.uriOf("a");
      const { heard, until } = collectChanges(await remote.watch({ uris: [uri] }, call));
      pressmark.delete("a");
      await until(({ kind }) => kind === "updated", "that it is gone");
      const before = heard.length;
      await pressmark.restart();
      await until(() => heard.length > before, "that it may have changed");
      const [after] = [heard.length];
      pressmark.set("a", "back");
      await until(() => heard.length > after, "that it is back");
      expect(await textOf(remote, uri, call)).toBe("back");
      await remote.close();
    });

    it("leaves nothing behind when it ends", async () => {
      await using pressmark = await notes();
      const remote = await connected(oldest ? pressmark.sseUrl : pressmark.url, options);
      const { call, stop } = caller();
      const watch = collectChanges(await remote.watch({ uris: names.map(pressmark.uriOf) }, call));
      expect(pressmark.watches).toBeGreaterThan(0);
      stop();
      await watch.ended;
      await remote.close();
      await expect.poll(() => pressmark.watches).toBe(0);
    });
  });

/** Connecting may fail on such a network; who wants in tries again. */
async function connected(url: string, options: ConnectOptions): Promise<RemoteServer> {
  return insist(() => connect(url, options));
}

async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await attempt();
    } catch (cause) {
      if (!(cause instanceof ResourceError) || !cause.passing || tries > 30) throw cause;
    }
}
