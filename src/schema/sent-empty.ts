// Maps that were sent empty mean absent and are dropped; errors still show them as they were sent. Nothing else may
// depend on the difference, which is why it is not in the object.

const sent = new WeakMap<object, string[]>()

export function rememberEmpty(object: object, name: string): void {
  sent.set(object, [...(sent.get(object) ?? []), name])
}

/** The map as it was sent: empty ones too. */
export const asSent = <T extends object, Name extends keyof T & string>(object: T, name: Name): unknown =>
  object[name] ?? (sent.get(object)?.includes(name) ? {} : undefined)
