// Checks of what a program passes to the library. Many are JavaScript, or cast: a misspelt option would have no effect.
import { didYouMean, similarNames } from './text/similar-names.ts'

/** Throws if an argument has a property that does not exist. */
export function checkProperties(what: string, argument: object, known: Readonly<Record<string, true>>): void {
  if (typeof argument !== 'object' || argument === null)
    throw new TypeError(`${what}: ${shownArgument(argument)} is no object`)
  const unknown = Object.keys(argument).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined)
    throw new TypeError(`${what}: unknown ${unknown}; ${alternatives(unknown, Object.keys(known))}`)
}

/** Throws unless a value is undefined or one of those. */
export function checkOneOf(
  what: string,
  value: string | number | undefined,
  known: readonly (string | number)[],
): void {
  if (value === undefined || known.includes(value)) return
  const others = typeof value === 'string' ? alternatives(value, known.map(String)) : `it is one of ${known.join(', ')}`
  throw new TypeError(`${what}: ${shownArgument(value)} does not exist; ${others}`)
}

/** Throws unless a value is undefined or a whole number of that range. */
export function checkWhole(what: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
  throw new TypeError(`${what}: ${shownArgument(value)} is no whole number from ${least} to ${most}`)
}

const alternatives = (wanted: string, known: readonly string[]): string =>
  didYouMean(similarNames(wanted, known)) || `it is one of ${known.join(', ')}`

const shownCharsMax = 100

export const shownArgument = (value: unknown): string =>
  (JSON.stringify(value) ?? String(value)).slice(0, shownCharsMax)
