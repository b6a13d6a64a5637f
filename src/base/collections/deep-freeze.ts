// deepFreeze: makes a JSON value deeply immutable.

/**
 * Children are frozen before their parent, so a frozen value is always deeply frozen and freezing it again costs one
 * check. Values that are only frozen at the top level must not be passed.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
