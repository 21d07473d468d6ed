/** Clients that listen: by `subscriptions/listen`, and in sessions of an older revision. A listen that ends is opened again. */
import { listen, type Notice } from "../../examples/cluster/mcp.ts";
import { type HistoryEvent, nowMs } from "./history.ts";
import { askInSession, openSession, openStream } from "./session-client.ts";
import { type NamedTarget, pause, uriOf, type WorkloadContext } from "./workload-context.ts";

export interface Listeners {
  /** Listener and file of each write that an open listener was not told of yet. */
  untold(): readonly string[];
  readonly done: Promise<unknown>;
}

let opened = 0;

export function startListeners(
  context: WorkloadContext,
  observe: (record: (event: HistoryEvent) => void) => void,
): Listeners {
  const { proxy, instances, settings, record, signal } = context;
  const byUri = new Map(settings.files.map((file) => [uriOf(settings, file), file]));
  const untold = new Map<string, Set<string>>();
  observe((event) => {
    if (event.is === "write") for (const files of untold.values()) files.add(event.file);
  });

  function open(name: string): { notice(notice: Notice): void; ended(): void } {
    untold.set(name, new Set());
    record({ is: "opened", listener: name, files: settings.files, atMs: nowMs() });
    return {
      notice({ method, params }) {
        if (method === "notifications/resources/list_changed") {
          untold.get(name)?.clear();
          record({ is: "notice", listener: name, atMs: nowMs() });
        } else if (method === "notifications/resources/updated") {
          const file = byUri.get(params?.uri ?? "");
          if (file === undefined) return;
          untold.get(name)?.delete(file);
          record({ is: "notice", listener: name, file, atMs: nowMs() });
        }
      },
      ended() {
        untold.delete(name);
        record({ is: "closed", listener: name, atMs: nowMs() });
      },
    };
  }

  async function keep(
    target: NamedTarget,
    kind: string,
    connect: (name: string, ended: () => void) => Promise<void>,
  ): Promise<void> {
    while (!signal.aborted) {
      const over = Promise.withResolvers<void>();
      try {
        await connect(`${target.name} ${kind} ${(opened += 1)}`, () => over.resolve());
        await over.promise;
      } catch {
        // Refused or broken before it was open: nothing was promised.
      }
      await pause(200, signal);
    }
  }

  const notifications = { resourceSubscriptions: [...byUri.keys()], resourcesListChanged: true };
  const modern = (target: NamedTarget) =>
    keep(target, "listener", async (name, ended) => {
      let handlers: ReturnType<typeof open> | undefined;
      let isOver = false;
      const early: Notice[] = [];
      await listen(
        target,
        notifications,
        {
          notice: (notice) => (handlers ? handlers.notice(notice) : early.push(notice)),
          ended() {
            isOver = true;
            handlers?.ended();
            ended();
          },
        },
        signal,
      );
      // The listen may have ended meanwhile.
      if (isOver) return;
      handlers = open(name);
      for (const notice of early) handlers.notice(notice);
    });
  const legacy = (target: NamedTarget) =>
    keep(target, "session", async (name, ended) => {
      const session = await openSession(target, AbortSignal.any([signal, AbortSignal.timeout(8000)]));
      let handlers: ReturnType<typeof open> | undefined;
      let isOver = false;
      const own = new AbortController();
      await openStream(
        target,
        session,
        {
          notice: (notice) => handlers?.notice(notice),
          ended() {
            isOver = true;
            handlers?.ended();
            ended();
          },
        },
        AbortSignal.any([signal, own.signal]),
      );
      try {
        for (const uri of byUri.keys()) {
          const limit = AbortSignal.any([signal, AbortSignal.timeout(8000)]);
          const { status, body } = await askInSession(target, session, "resources/subscribe", { uri }, limit);
          if (status !== 200 || body.includes('"error"'))
            throw new Error(`a subscription was refused: ${status} ${body}`);
        }
      } catch (cause) {
        own.abort();
        throw cause;
      }
      if (isOver) return;
      handlers = open(name);
    });
  const done = Promise.all([
    ...instances.map(modern),
    modern(proxy),
    modern(proxy),
    legacy(proxy),
    legacy(instances[0]!),
  ]);
  return {
    untold: () => [...untold].flatMap(([name, files]) => [...files].map((file) => `${name}: ${file}`)),
    done,
  };
}
