/** Notifications of the fake to its channels: in order and once, unless a test changes that. */

interface FakeChannel {
  readonly id: string;
  readonly resourceId: string;
  readonly token: string;
  readonly address: string;
  readonly expiration: string;
  readonly log: string;
}

export interface FakeWebhooks {
  readonly channels: readonly FakeChannel[];
  open(channel: FakeChannel): void;
  stop(id: string): boolean;
  changed(log: string): void;
  /** What happens to notifications from now on. */
  treat(how: "well" | "drop" | "twice" | "reorder"): void;
  /** The statuses of all responses so far. */
  settled(): Promise<readonly number[]>;
}

export function createWebhooks(): FakeWebhooks {
  const channels = new Map<string, FakeChannel>();
  const answers: Promise<number>[] = [];
  const held: (() => void)[] = [];
  let treatment: Parameters<FakeWebhooks["treat"]>[0] = "well";
  let number = 0;

  async function call({ id, resourceId, token, address }: FakeChannel, state: string): Promise<number> {
    number += 1;
    try {
      const response = await fetch(address, {
        method: "POST",
        headers: {
          "X-Goog-Channel-ID": id,
          "X-Goog-Channel-Token": token,
          "X-Goog-Resource-ID": resourceId,
          "X-Goog-Resource-State": state,
          "X-Goog-Message-Number": String(number),
        },
      });
      await response.body?.cancel();
      return response.status;
    } catch {
      return 0;
    }
  }

  function send(channel: FakeChannel, state: string): void {
    if (treatment === "drop") return;
    const now = (): void => void answers.push(call(channel, state));
    if (treatment === "reorder" && held.length === 0) return void held.push(now);
    now();
    if (treatment === "twice") now();
    for (const earlier of held.splice(0)) earlier();
  }

  return {
    get channels() {
      return [...channels.values()];
    },
    open(channel) {
      channels.set(channel.id, channel);
      send(channel, "sync");
    },
    stop: (id) => channels.delete(id),
    changed(log) {
      for (const channel of channels.values()) if (channel.log === log) send(channel, "change");
    },
    treat: (how) => void (treatment = how),
    settled: () => Promise.all(answers),
  };
}
