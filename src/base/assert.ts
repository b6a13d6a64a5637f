// assert states an invariant of our own code. It stays on in production: a broken invariant is a bug, never bad input.
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** For what a type says may be absent but the invariant says is there. */
export function present<T>(value: T | undefined | null, message: string): T {
  assert(value !== undefined && value !== null, message)
  return value
}

export class AssertionError extends Error {
  override name = 'AssertionError'
}
