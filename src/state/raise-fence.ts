/** The highest fence of each topic, in the shared database: a bus forgets it together with its messages. */
import type { SharedDatabase } from "./database.ts";

/** Returns false if a message with a higher fence may have been published in the topic; otherwise no lower one is accepted after it resolves. */
export type RaiseFence = (topic: string, fence: number) => Promise<boolean>;

/** Uses the rows that a bus in PostgreSQL has, too, so that fences are also kept when a server changes its bus. */
export function createRaiseFence(database: SharedDatabase): RaiseFence {
  return async (topic, fence) => {
    const rows = await database.query(
      `insert into topics as t (topic, last, fence) values ($1, 0, $2)
       on conflict (topic) do update set fence = $2 where t.fence <= $2 returning fence`,
      [topic, fence],
    );
    return rows.length > 0;
  };
}
