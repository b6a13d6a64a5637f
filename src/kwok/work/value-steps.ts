// How many steps of an expression or a template it takes to handle a value. Parts of a value may be shared, and `. + .` doubles a text, so
// few characters can describe values that would not fit into memory.
import { jsonCharactersMin } from '../../schema/json/json-size.ts'

/** More than an object of the API has. */
export const valueCharactersMax = 2 * 1024 * 1024
const charactersPerStep = 64

/** Undefined if the value is too large. */
export function stepsOf(value: unknown): number | undefined {
  const characters = jsonCharactersMin(value, valueCharactersMax)
  return characters > valueCharactersMax ? undefined : Math.floor(characters / charactersPerStep)
}
