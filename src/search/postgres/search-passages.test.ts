/** The shared index stores documents and answers queries as the embedded one does, on each supported PostgreSQL that is there. */
import { afterAll, beforeAll, describe } from "vitest";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { wait } from "../../lib/wait.ts";
import { migrate } from "../../state/migrate.ts";
import { openDatabase } from "../../state/open-database.ts";
import { stateMigrations } from "../../state/tables.ts";
import { flavours, missingFor, type PostgresServer, startPostgres } from "../../../test/live/postgres.ts";
import { type OpenedIndex, searchContract } from "../test-search-contract.ts";
import { storeContract } from "../test-store-contract.ts";
import { openPostgresIndexStore } from "./postgres-index-store.ts";
import { searchMigrations } from "./tables.ts";

const runtime = { monotonicMs, wait, log: () => undefined };

describe.each(flavours)("PostgreSQL of %s", (flavour) => {
  describe.skipIf(missingFor(flavour))("has an index in which", () => {
    let server: PostgresServer;
    let made = 0;
    beforeAll(async () => {
      server = await startPostgres(flavour);
    }, 60_000);
    afterAll(() => server.close());

    const open = async (): Promise<OpenedIndex> => {
      const url = `${server.url("postgres")}?schema=contract_${(made += 1)}`;
      const database = openDatabase({ url, runtime, timeoutMs: 60_000 });
      await migrate(database, [...stateMigrations, ...searchMigrations]);
      return { store: openPostgresIndexStore({ database }), close: () => database.close() };
    };
    searchContract(open);
    storeContract(open);
  });
});
