/** Lets others run during a long loop, so that no request keeps the rest waiting. */

/** How long a loop may go on before others have their turn. */
const turnMs = 10;

/** Awaited in each round of a loop; resolves at once unless the loop has gone on for a while. */
export type Turn = () => Promise<void> | undefined;

export function createTurns(): Turn {
  let began = performance.now();
  return () => {
    if (performance.now() - began < turnMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        began = performance.now();
        resolve();
      });
    });
  };
}
