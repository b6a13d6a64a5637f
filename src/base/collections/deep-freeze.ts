// deepFreeze: makes a JSON value immutable, with all that it holds.

/**
 * Parts are frozen before the whole: a value that is frozen is frozen to its depth, so freezing it again costs one check.
 * Whoever freezes a value's surface alone must not hand it here.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
