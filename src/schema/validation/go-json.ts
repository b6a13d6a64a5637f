import { jsonText } from '../json/exact-json.ts'

const escapes: ReadonlyMap<string, string> = new Map([
  ['<', String.raw`\u003c`],
  ['>', String.raw`\u003e`],
  ['&', String.raw`\u0026`],
  ['\u2028', String.raw`\u2028`],
  ['\u2029', String.raw`\u2029`],
])

/** JSON as Go's encoder writes it: characters that have a meaning in HTML are escaped. */
export const goJson = (value: unknown): string =>
  jsonText(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes.get(character) ?? character)
