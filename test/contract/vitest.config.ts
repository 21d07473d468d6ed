/** Runs the contracts of the memory source under vitest, in a process of their own. */
import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["test/contract/memory-contracts.ts"] } });
