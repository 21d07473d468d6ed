/** Temporary names that contain their process, so that leftovers of a killed process can be distinguished from files being written. */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileClockMs } from "./file-clock-ms.ts";

/** After this time nothing is being written: the process is gone, even if another has its id, or it ran on another machine. */
const abandonedMs = 3_600_000;
/** The same for names without a process, from earlier versions. */
const namelessMs = 60_000;

const named = /\.pressmark-([a-z0-9]*)-(\d{1,10})-[0-9a-zA-Z]+$/;
const nameless =
  /^(?:cursor-key|changed|[0-9a-f]{32}\.json|accounts\.json|\.pressmark\.config\.(?:ya?ml|json))\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Containers that share a folder have separate process ids, and separate host names. */
export function machineName(): string {
  return hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(0, 32);
}

/** The end of a temporary name, without its unique part. */
export function processMark(): string {
  return `.pressmark-${machineName()}-${process.pid}-`;
}

/** Removes files, or folders, that killed processes left in this folder. What cannot be removed stays. */
export function removeLeftovers(folder: string, kind: "files" | "folders" = "files"): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names) {
    try {
      if (isLeftover(folder, name, kind)) rmSync(join(folder, name), { recursive: kind === "folders", force: true });
    } catch {
      // Another process was faster, or it is not ours to remove.
    }
  }
}

function isLeftover(folder: string, name: string, kind: "files" | "folders"): boolean {
  const [, of, digits] = named.exec(name) ?? [];
  if (of === undefined && !nameless.test(name)) return false;
  const stats = lstatSync(join(folder, name));
  if (kind === "files" ? !stats.isFile() : !stats.isDirectory()) return false;
  const { mtimeMs, uid } = stats;
  // In a folder that others can write to, names prove nothing.
  if (process.getuid && uid !== process.getuid()) return false;
  const ageMs = fileClockMs() - mtimeMs;
  if (of === undefined) return ageMs > namelessMs;
  if (ageMs > abandonedMs) return true;
  return hasEnded(of, Number(digits), ageMs);
}

/** Whether a process of this machine has ended that made something of this age. False for other machines. */
export function hasEnded(machine: string, pid: number, ageMs: number): boolean {
  if (machine !== machineName()) return false;
  // A restarted process in a container often has the same id as before.
  return pid === process.pid ? ageMs > process.uptime() * 1000 + 1000 : !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}
