/**
 * Gives a process a fixed share of a processor with a control group, so that several fit on a small machine beside the client. The share is
 * also a promise: the group has a high weight, so that other work on the machine takes little of it.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Short, so that a process that has used its share waits a few milliseconds only. */
const periodUs = 20_000;
const v1 = "/sys/fs/cgroup/cpu";
const v2 = "/sys/fs/cgroup";

/** Needs root. Call what it returns after the process has ended. */
export function limitCpu(pid: number, cores: number): () => void {
  const isV1 = existsSync(join(v1, "cpu.cfs_quota_us"));
  const group = join(isV1 ? v1 : v2, `pressmark-bench-${pid}`);
  const quotaUs = Math.round(cores * periodUs);
  try {
    mkdirSync(group);
    if (isV1) {
      writeFileSync(join(group, "cpu.shares"), "20480");
      writeFileSync(join(group, "cpu.cfs_period_us"), String(periodUs));
      writeFileSync(join(group, "cpu.cfs_quota_us"), String(quotaUs));
    } else {
      writeFileSync(join(group, "cpu.weight"), "2000");
      writeFileSync(join(group, "cpu.max"), `${quotaUs} ${periodUs}`);
    }
    writeFileSync(join(group, "cgroup.procs"), String(pid));
  } catch (cause) {
    throw new Error(
      "the CPU of a process cannot be limited: run this as root, with control groups that can be written",
      {
        cause,
      },
    );
  }
  return () => rmdirSync(group);
}
