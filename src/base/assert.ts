// assert checks an invariant of our own code. It stays on in production. A failed assertion is a bug, never bad input.
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** Returns a value that the type allows to be absent but an invariant guarantees. */
export function present<T>(value: T | undefined | null, message: string): T {
  assert(value !== undefined && value !== null, message)
  return value
}

export class AssertionError extends Error {
  override name = 'AssertionError'
}
