// The least and the greatest of many numbers. `Math.min(...values)` passes each value as an argument and overflows the
// stack for long lists.

/** Infinity when there are no values. */
export function leastOf(values: Iterable<number>): number {
  let least = Infinity
  for (const value of values) least = Math.min(least, value)
  return least
}

/** -Infinity when there are no values. */
export function greatestOf(values: Iterable<number>): number {
  let greatest = -Infinity
  for (const value of values) greatest = Math.max(greatest, value)
  return greatest
}
