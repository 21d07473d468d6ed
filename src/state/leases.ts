/** One holder at a time for a name, among all instances. */

export interface HeldLease {
  readonly name: string;
  /** Greater than that of every earlier holder. Writes that carry it are refused once another instance has acquired the lease. */
  readonly fence: number;
  /** Aborted when the lease is lost or released. The holder may notice late: only the fence protects writes. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

export interface LeaseInfo {
  readonly name: string;
  readonly holder: string;
  readonly fence: number;
  /** Whether nobody holds it. */
  readonly isExpired: boolean;
  /** Whether its last holder gave it up, instead of not renewing it. */
  readonly isReleased: boolean;
}

export interface Leases {
  /** Waits until the lease is free. Rejects with "cancelled" when the signal is aborted. While the engine is away, it is retried. */
  acquire(name: string, signal: AbortSignal): Promise<HeldLease>;
  /** Returns undefined if another instance holds it. */
  tryAcquire(name: string): Promise<HeldLease | undefined>;
  list(): Promise<readonly LeaseInfo[]>;
  /** Names that this process waits for (`acquire`), each once. */
  waiting(): readonly string[];
  /** Releases all. */
  close(): Promise<void>;
}
