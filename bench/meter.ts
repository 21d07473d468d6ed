/** What a process has used, read from /proc in the same way for every contestant. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** CPU time of a process, its threads and its children so far, in microseconds. */
export function cpuMicros(pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + processMicros(member), 0);
}

/** The same with children that have ended, as connections of a database do. These are counted in steps of 10 ms. */
export function cpuMicrosWithEnded(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(13, 15).map(Number);
  return cpuMicros(pid) + (user! + system!) * 10_000;
}

/** Memory that a process and its children hold, in bytes. */
export function residentBytes(pid: number): number {
  return familyOf(pid).reduce((sum, member) => {
    const held = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${member}/status`, "utf8"));
    return sum + Number(held?.[1] ?? 0) * 1024;
  }, 0);
}

/** The most that a process alone has held since it started or since `forgetPeak`, in bytes. */
export function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** What is held once a second has passed without growth, or after ten. */
export async function settledBytes(pid: number): Promise<number> {
  let now = residentBytes(pid);
  for (let second = 0; second < 10; second++) {
    const last = now;
    await wait(1000);
    now = residentBytes(pid);
    if (Math.abs(now - last) < 256 * 1024) break;
  }
  return now;
}

/** Threads are summed one by one because the scheduler counts them in nanoseconds; `/proc/<pid>/stat` counts in 10 ms. */
function processMicros(pid: number): number {
  let nanos = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  }
  return nanos / 1000;
}

/** A process, its children and theirs. */
export function familyOf(pid: number): number[] {
  const members = [pid];
  for (const member of members) {
    for (const thread of readdirSync(`/proc/${member}/task`)) {
      const children = readFileSync(`/proc/${member}/task/${thread}/children`, "utf8").trim();
      if (children !== "") members.push(...children.split(" ").map(Number));
    }
  }
  return members;
}
