/** For the test suites of sources and servers: the contracts, the fault sweep, and a clock that is moved by hand. */
export { createClock } from "./clock.ts";
export type { Clock, Logged } from "./clock.ts";
export { contractContent } from "./contract-content.ts";
export type { KnownContent } from "./contract-content.ts";
export { failNth, sweepFaults } from "./faults.ts";
export type { Faulty, Sweep } from "./faults.ts";
export { collectChanges } from "./listen.ts";
export type { TestListener } from "./listen.ts";
export { resourcesContract } from "./resources-contract.ts";
export type { ResourcesSetup } from "./resources-setup.ts";
export { sourceContract } from "./source-contract.ts";
export type { Ability, ReportedChange, SourceSetup } from "./source-setup.ts";
export { defaultRunner } from "./contract-runner.ts";
export type { ContractRunner, TestOptions } from "./contract-runner.ts";
