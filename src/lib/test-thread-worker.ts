/** Functions that the tests of threads call in a thread. */
let counted = 0;

export function add(left: number, right: number): number {
  return left + right;
}

export function fail(message: string): never {
  throw new Error(message);
}

/** How often it was called in this thread. */
export function count(): number {
  counted += 1;
  return counted;
}

export function neverEnd(): void {
  for (;;) counted += 1;
}

export function hoard(): number {
  const all: number[][] = [];
  for (;;) all.push(Array.from({ length: 100_000 }, Math.random));
}
