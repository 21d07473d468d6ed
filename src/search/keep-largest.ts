/** Keeps the largest items in a heap. */

/** The first item is the smallest that is kept; the others are unordered. */
export function keepLargest<T extends { readonly score: number }>(heap: T[], room: number, one: T): void {
  if (heap.length < room) {
    let at = heap.length;
    heap.push(one);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.score <= heap[at]!.score) break;
      [heap[parent], heap[at]] = [heap[at]!, heap[parent]!];
      at = parent;
    }
    return;
  }
  heap[0] = one;
  for (let at = 0; ;) {
    const left = at * 2 + 1;
    if (left >= heap.length) return;
    const child = left + 1 < heap.length && heap[left + 1]!.score < heap[left]!.score ? left + 1 : left;
    if (heap[at]!.score <= heap[child]!.score) return;
    [heap[at], heap[child]] = [heap[child]!, heap[at]!];
    at = child;
  }
}
