// Access to properties whose names come from outside. A plain access also finds inherited properties (`constructor`,
// `toString`), and assigning `__proto__` sets no property. The tidy test finds accesses that bypass these functions.

/** Returns the object's own property. */
export function lookup<Value>(
  record: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && record !== null && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Sets an own property, also when the name is `__proto__`. */
export function setOwn<Value>(record: Record<string, Value>, name: string, value: NoInfer<Value>): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
  else record[name] = value
}
