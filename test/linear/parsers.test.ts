/** The attacks that every run tries: always the same. `npm run test:long` tries others, for longer. */
import { fuzz } from "./fuzz.ts";

fuzz({ seed: 20_261_115, msPerParser: 150 });
