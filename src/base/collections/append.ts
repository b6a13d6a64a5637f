/**
 * Appends the items to a list. `push(...items)` passes each item as an argument and overflows the stack for long lists.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}
