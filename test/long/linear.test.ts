/** Other attacks each time. To try the same again: `LINEAR_SEED=… npm run test:long -- linear`. */
import { fuzz } from "../linear/fuzz.ts";

const seed = Number(process.env["LINEAR_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
console.log(`LINEAR_SEED=${seed}`);
fuzz({ seed, msPerParser: 1000 * Number(process.env["LINEAR_SECONDS"] ?? 10), eachToken: true });
