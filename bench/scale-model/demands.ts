/** The demands that the model plans for: 10^9 resources, 10^6 listens and 10^5 requests a second, with several mixes. */
import type { Demand } from "./plan.ts";

const base = {
  resources: 1e9,
  listens: 1e6,
  requestsPerSecond: 1e5,
  updatesPerSecond: 1000,
  listensOfUpdate: 10,
  searches: "one group",
} as const;

export const demands: readonly Demand[] = [
  { ...base, name: "mostly reads", mix: { read: 0.97, list: 0.02, search: 0.01 } },
  { ...base, name: "reads and searches", mix: { read: 0.94, list: 0.02, search: 0.04 } },
  { ...base, name: "mostly searches", mix: { read: 0.48, list: 0.02, search: 0.5 } },
  { ...base, name: "many lists", mix: { read: 0.76, list: 0.2, search: 0.04 } },
  { ...base, name: "many updates", mix: { read: 0.94, list: 0.02, search: 0.04 }, updatesPerSecond: 10_000 },
  { ...base, name: "searches of everything", mix: { read: 0.97, list: 0.02, search: 0.01 }, searches: "all groups" },
];
