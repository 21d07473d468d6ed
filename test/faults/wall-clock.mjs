/** Preloaded into a process: its wall clock is off by as many milliseconds as a file says, from one call to the next. */
import { readFileSync } from "node:fs";

const file = process.env.TEST_WALL_CLOCK_FILE;
const SystemDate = Date;
const now = () => SystemDate.now() + Number(readFileSync(file, "utf8"));

globalThis.Date = class Date extends SystemDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [now()]));
  }
  static now() {
    return now();
  }
};
