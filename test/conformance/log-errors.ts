// Errors in the log of the cluster under test, counted by message. Each must have an explanation.

export interface LogError {
  readonly message: string
  readonly count: number
  /** The first entry with the message. */
  readonly example: string
}

const exampleCharactersMax = 400

/** Lines that are no JSON, such as the hints of `coxswain up`, are no entries. */
export function logErrors(log: string): readonly LogError[] {
  const errors = new Map<string, LogError>()
  for (const line of log.split('\n').filter((text) => text.startsWith('{') && text.endsWith('}'))) {
    const { level, message = '' } = JSON.parse(line) as { readonly level?: string; readonly message?: string }
    if (level !== 'error' && level !== 'fatal') continue
    const { count, example } = errors.get(message) ?? { count: 0, example: line.slice(0, exampleCharactersMax) }
    errors.set(message, { message, count: count + 1, example })
  }
  return [...errors.values()].toSorted((a, b) => b.count - a.count)
}
