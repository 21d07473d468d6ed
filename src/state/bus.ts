/** Carries changes between the instances of a server. */

export interface BusMessage {
  /** `mount:<name>` or another name of this program. */
  readonly topic: string;
  /** JSON. */
  readonly body: unknown;
  /** Fence of the lease that the sender held; 0 if none. Subscribers never receive a message with a lower fence than one before it in the topic. */
  readonly fence: number;
}

export interface BusSubscriber {
  /** Each message once, in the order of its topic, also on the instance that published it. */
  message(message: BusMessage): void;
  /** Messages of the topic may have been missed: everything that depends on it must be read again. Messages continue after it. */
  gap(topic: string): void;
}

/** The bus keeps messages for some minutes, so that a broken connection is usually repaired without a gap. */
export interface Bus {
  /**
   * Resolves when the message is stored by the engine: it reaches every subscriber, or the subscriber gets a gap. Rejects with "unavailable" if that
   * is not known, and with "denied" if a message with a higher fence was published before.
   */
  publish(message: BusMessage): Promise<void>;
  /** Resolves once armed: a message published after that is never missed without a gap. Ends with the signal. */
  subscribe(topic: string, subscriber: BusSubscriber, signal: AbortSignal): Promise<void>;
  readonly status: BusStatus;
  close(): Promise<void>;
}

export interface BusStatus {
  readonly engine: "memory" | "postgres" | "nats";
  readonly isConnected: boolean;
  /** Messages that were published and not yet received here, as far as known. */
  readonly lag: number;
  readonly gaps: number;
  readonly published: number;
  readonly received: number;
}
