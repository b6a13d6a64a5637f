/** Adds the items at the end of a list. `push(...items)` passes each as an argument: with many, the stack overflows. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}
