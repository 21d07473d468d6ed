/** A resource that is read again whenever it changes. */
import { useEffect, useState } from "preact/hooks";
import type { Content, Resources } from "../resources.ts";
import { messageOf } from "./message-of.ts";

interface Live<T> {
  readonly value?: T;
  readonly problem?: string;
  /** The connection was lost: the value is the last known one. */
  readonly isStale?: boolean;
}

/** Another `turn` starts again after a failure. */
export function useLiveResource<T>(
  pressmark: Resources,
  uri: string,
  parse: (contents: readonly Content[]) => T,
  turn: number,
  updatedAt: (now: number) => void,
): Live<T> {
  const [live, setLive] = useState<Live<T>>({});
  useEffect(() => {
    const ended = new AbortController();
    const call = { caller: { id: "picker" }, signal: ended.signal };
    async function look(): Promise<void> {
      const { contents } = await pressmark.read(uri, call);
      if (ended.signal.aborted) return;
      updatedAt(Date.now());
      setLive({ value: parse(contents) });
    }
    async function follow(): Promise<void> {
      // Watched before the read, so that no change is missed. If it cannot be watched, it is shown once.
      const watch = await pressmark.watch({ uris: [uri] }, call).catch(() => undefined);
      await look();
      for await (const _ of watch ?? []) await look();
    }
    follow().catch((cause: unknown) => {
      if (!ended.signal.aborted) setLive((before) => ({ ...before, problem: messageOf(cause), isStale: true }));
    });
    return () => ended.abort();
  }, [pressmark, turn]);
  return live;
}
