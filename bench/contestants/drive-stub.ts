/** The fake Drive in a process of its own, so that what it takes is not counted as ours: `node drive-stub.ts DOCUMENTS LATENCY`. */
import { startFakeDrive } from "../../src/testing/fakes/gdrive.ts";

const [documents = 0, latencyMs = 0] = process.argv.slice(2).map(Number);
const fake = await startFakeDrive();
for (let index = 0; index < documents; index += 1)
  fake.document(`doc-${String(index).padStart(6, "0")}`, `# Document ${index}\n\nIts text.\n`, { name: `${index}` });
fake.latencyMs = latencyMs;

process.on("message", () => process.send!(fake.asked.length));
process.on("disconnect", () => process.exit());
console.log(fake.rootUrl);
