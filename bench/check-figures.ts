/** `node bench/check-figures.ts [--update]`: compares the figures on the repository's own data with the kept ones, or keeps the new ones. */
import { parseArgs } from "node:util";
import { compareFigures, keep, measureFigures, readKept } from "./kept-figures.ts";

const { values } = parseArgs({ options: { update: { type: "boolean", default: false } } });
const measured = await measureFigures();
for (const [name, figure] of Object.entries(measured)) console.log(`${name}: ${figure.toFixed(4)}`);
if (values.update) keep(measured);
else {
  const problems = compareFigures(readKept(), measured);
  if (problems.length > 0) {
    console.error(`${problems.join("\n")}\nIf this is intended: node bench/check-figures.ts --update`);
    process.exitCode = 1;
  }
}
