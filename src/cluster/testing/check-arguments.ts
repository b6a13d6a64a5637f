// Checks of what a test passes to the library. Many tests are JavaScript, or cast: a misspelt option would have no effect, and
// the test would pass.
import type { ResourceType } from '../../api/kind/kind.ts'
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'

/** Throws if an argument has a property that does not exist. */
export function checkProperties(what: string, argument: object, known: Readonly<Record<string, true>>): void {
  if (typeof argument !== 'object' || argument === null) throw new TypeError(`${what}: ${shown(argument)} is no object`)
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
  throw new TypeError(`${what}: ${shown(value)} does not exist; ${others}`)
}

/** Throws unless a value is undefined or a whole number of that range. */
export function checkWhole(what: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
  throw new TypeError(`${what}: ${shown(value)} is no whole number from ${least} to ${most}`)
}

/** Throws unless a value is a kind: the constants of the library are, their names are not. */
export function checkKind(what: string, kind: ResourceType): void {
  if (typeof kind === 'object' && kind !== null && typeof kind.plural === 'string') return
  throw new TypeError(`${what}: ${shown(kind)} is no kind; import it: import { pod } from 'coxswain'`)
}

const alternatives = (wanted: string, known: readonly string[]): string =>
  didYouMean(similarNames(wanted, known)) || `it is one of ${known.join(', ')}`

const shownCharsMax = 100

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, shownCharsMax)
