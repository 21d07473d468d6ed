/**
 * Hears from the system what happens in a folder, in a process that does nothing else, and tells when. Tells again after as
 * long a quiet as Pressmark waits for: what that takes is what the machine allows.
 */
import { watch } from "node:fs";

const quietMs = 30;
const [folder = ""] = process.argv.slice(2);
const quiet = new Map<string, NodeJS.Timeout>();
watch(folder, (_, name) => {
  if (name === null) return;
  process.send?.({ name, at: String(process.hrtime.bigint()) });
  clearTimeout(quiet.get(name));
  quiet.set(
    name,
    setTimeout(() => process.send?.({ name, quiet: true }), quietMs),
  );
});
process.once("disconnect", () => process.exit());
process.send?.("ready");
