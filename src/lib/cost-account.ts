/** Says, anywhere below a request, whom to charge for work whose cost is known only afterwards. */
import { AsyncLocalStorage } from "node:async_hooks";

export interface CostAccount {
  /** Rows that a search read from the index, or milliseconds that a child process, or the thread of `count_tokens`, worked. */
  charge(unit: "indexRows" | "processMs", amount: number): void;
  /** False once the request has ended: what it started for everyone, such as a shared watch, is not charged to it. */
  readonly isOpen: boolean;
}

const accounts = new AsyncLocalStorage<CostAccount | undefined>();

/** Runs work, and what follows from it, on this account. Undefined charges nobody. */
export function runCharged<T>(account: CostAccount | undefined, work: () => T): T {
  return account === accounts.getStore() ? work() : accounts.run(account, work);
}

/** Undefined if nobody is to be charged. Take it when the work begins: the request may end before the work. */
export function costAccount(): CostAccount | undefined {
  const account = accounts.getStore();
  return account?.isOpen ? account : undefined;
}
