/** A small project to show the page with: what its pictures in the docs are of. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const minuteMs = 60_000;
const start = Date.UTC(2026, 10, 15, 6);

/** The same at every run: two waves and a little noise. */
function latency(index: number, calm: number): string {
  const noise = ((index * 7919) % 13) - 6;
  return (calm + 18 * Math.sin(index / 9) + (index > 70 && index < 84 ? 60 : 0) + noise).toFixed(1);
}

const latencies = Array.from(
  { length: 120 },
  (_, index) =>
    `${new Date(start + index * minuteMs).toISOString()},${latency(index, 90)},${latency(index + 30, 160)}\n`,
).join("");

export const orchardFiles: Readonly<Record<string, string>> = {
  "project/README.md": "# Orchard\n\nA shop for fruit trees. See [the handbook](docs://handbook/en/retries).\n",
  "project/data/latency.csv": `time,checkout ms,search ms\n${latencies}`,
  "project/src/retry.ts": `/** Asks again, later each time, until the deadline. */
export async function retry<T>(ask: () => Promise<T>, deadlineMs: number): Promise<T> {
  for (let waitMs = 100; ; waitMs *= 2) {
    try {
      return await ask();
    } catch (error) {
      if (waitMs > deadlineMs) throw error;
      await new Promise((done) => setTimeout(done, waitMs));
    }
  }
}
`,
  "project/src/checkout.ts": `import { retry } from "./retry.ts";

/** The payment service is asked again when it does not answer. */
export const pay = (order: string) => retry(() => fetch("/pay/" + order), 8_000);
`,
  "project/src/stock.ts": "export const trees = new Map<string, number>();\n",
  "handbook/retries.md": `---
priority: 0.9
---

# Retries

A request that fails is asked again, **later each time**, until its deadline.

| Service | First wait | Deadline |
| ------- | ---------: | -------: |
| payment |     100 ms |      8 s |
| stock   |      50 ms |      2 s |

\`\`\`ts
await retry(() => pay(order), 8_000);
\`\`\`

- What was refused is not asked again.
- Every retry is counted, and shown on the board.
`,
  "handbook/onboarding.md":
    "---\npriority: 0.6\n---\n\n# Onboarding\n\nThe first week: the shop, the stock, the retries.\n",
  "handbook/runbook.md": "# Runbook\n\nWhen payment is slow, look at the retries first.\n",
};

export const orchardConfig = `mounts:
  handbook: { source: docs, root: handbook }
  project: { source: file, root: project, scheme: orchard }
  shop: { source: sqlite, path: shop.db, rows: [trees] }
sets: { payment: { resources: ["docs://handbook/en/retries"] } }
`;

export function makeShop(root: string): void {
  const database = new DatabaseSync(join(root, "shop.db"));
  database.exec(`
    CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL);
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY,
      tree_id INTEGER NOT NULL REFERENCES trees(id),
      placed_at TEXT DEFAULT CURRENT_TIMESTAMP
    );
    INSERT INTO trees (name, price_cents) VALUES ('Apple', 2900), ('Pear', 3100), ('Quince', 4200);
  `);
  database.close();
}
