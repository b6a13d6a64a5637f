// Errors of an evaluation: errors of the language, and interrupts.

/** An evaluation error of the language: `||` and `&&` may ignore it. */
export class EvalError extends Error {
  constructor(message: string) {
    const limit = Error.stackTraceLimit
    // The stack would take most of the time of a loop whose elements all fail.
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = limit
    this.name = 'EvalError'
  }
}

/** Ends an evaluation: no operator can ignore it. */
export class Interrupt extends Error {}

export const noSuchOverload = (): EvalError => new EvalError('no such overload')
