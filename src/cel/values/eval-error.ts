// Errors of an evaluation: those that the language knows, and those that end it.

/** An evaluation that went wrong, as the language knows it: `||` and `&&` may pass over it. */
export class EvalError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EvalError'
  }
}

/** Ends an evaluation whatever the expression says: no operator passes over it. */
export class Interrupt extends Error {}

export const noSuchOverload = (): EvalError => new EvalError('no such overload')
