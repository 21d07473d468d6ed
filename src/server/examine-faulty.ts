/** Reports the mounts that are left out. */
import type { CheckResult } from "./examine.ts";
import type { Server } from "./open-server.ts";

/** An optional mount that is missing on this machine is a hint. */
export function examineFaulty({ faulty }: Pick<Server, "faulty">): CheckResult[] {
  return faulty.flatMap(({ name, problems, isExpected }) =>
    problems.map((problem): CheckResult => ({
      about: `mount ${name}`,
      state: isExpected ? "hint" : "broken",
      says: `is left out${isExpected ? ", as it is optional" : ""}: ${problem}`,
    })),
  );
}
