/** All mutants of a source that lists by address. */
import type { SourceSetup } from "../../src/testing/index.ts";
import { entryMutants } from "./entry-mutants.ts";
import { listMutants } from "./list-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { offerMutants } from "./offer-mutants.ts";
import { watchMutants } from "./watch-mutants.ts";

/** The mutants that are possible for a source with these abilities. */
export function mutantsOf({ abilities }: SourceSetup): Mutant[] {
  return [...listMutants, ...entryMutants, ...offerMutants, ...watchMutants].filter(
    ({ needs }) => needs === undefined || abilities.includes(needs),
  );
}
