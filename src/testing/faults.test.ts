import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { failNth, sweepFaults } from "./faults.ts";

/** A target for faults. */
function shop() {
  return {
    name: "shop",
    buy: async (what: string) => what,
    async *deliver() {
      yield "one";
      yield "two";
    },
  };
}
type Shop = Omit<ReturnType<typeof shop>, "deliver"> & { deliver(): Promise<AsyncIterable<string>> };
const open = () => shop() as unknown as Shop;

/** Errors become ResourceErrors, as behind the layers. */
async function politely(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new ResourceError("unexpected", "it failed", { cause });
  }
}

const hangs = () => new Promise(() => {});
const broken = () => {
  throw new Error("still broken");
};

describe("the fault sweep", () => {
  it("makes each call fail once, in turn, until a run needs no fault", async () => {
    const bought: string[] = [];
    const swept = await sweepFaults<Shop>({
      open,
      faults: [() => new Error("out of stock")],
      run: ({ buy }) =>
        politely(async () => {
          for (const what of ["a", "b", "c"]) bought.push(await buy(what));
        }),
    });
    expect(swept).toBe(3);
    expect(bought.join("")).toBe("aababc");
  });

  it("counts each step of an iteration, and ignores what is no function", async () => {
    const swept = await sweepFaults<Shop>({
      open,
      run: (faulty) =>
        politely(async () => {
          expect(faulty.name).toBe("shop");
          for await (const each of await faulty.deliver()) await faulty.buy(each);
        }),
    });
    expect(swept).toBe(5);
  });

  it("complains about an error that is no ResourceError", async () => {
    const run = ({ buy }: Shop) => buy("a");
    await expect(sweepFaults<Shop>({ open, run })).rejects.toThrow("no ResourceError");
  });

  it("complains about a run that hangs, and about what hangs afterwards", async () => {
    const run = async ({ buy }: Shop) => await buy("a").catch(hangs);
    await expect(sweepFaults<Shop>({ open, run, hangMs: 1 })).rejects.toThrow("with call 1 failing hangs");
    const fine = ({ buy }: Shop) => politely(async () => await buy("a"));
    await expect(sweepFaults<Shop>({ open, run: fine, recovered: hangs, hangMs: 1 })).rejects.toThrow("hangs");
  });

  it("complains when nothing works afterwards, or nothing worked before", async () => {
    const run = ({ buy }: Shop) => politely(async () => await buy("a"));
    await expect(sweepFaults<Shop>({ open, run, recovered: broken })).rejects.toThrow("still broken");
    await expect(sweepFaults<Shop>({ open, run: broken })).rejects.toThrow("without a fault");
  });

  it("complains about a run that makes calls without end", async () => {
    const run = async ({ buy }: Shop) => {
      for (let index = 0; index < 20; index += 1) await buy("a").catch(() => undefined);
    };
    await expect(sweepFaults<Shop>({ open, run, maxCalls: 10 })).rejects.toThrow("more than 10 calls");
  });

  it("fails no call after it was healed", async () => {
    const faulty = failNth(open(), 2, () => new Error("no"));
    await faulty.target.buy("a");
    faulty.heal();
    expect(await faulty.target.buy("b")).toBe("b");
    expect(faulty.struck).toBe(false);
  });
});
