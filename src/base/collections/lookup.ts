// Properties under names that come from outside. An object has more properties than its own (`constructor`, `toString`),
// and an assignment to `__proto__` sets no property at all. The tidy test finds accesses that do not go through here.

/** The object's own property. */
export function lookup<Value>(
  record: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && record !== null && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Sets an own property, whatever its name. */
export function setOwn<Value>(record: Record<string, Value>, name: string, value: NoInfer<Value>): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
  else record[name] = value
}
