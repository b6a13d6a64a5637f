// Errors about expressions, in upstream's wording.
import { lookup } from '../../base/collections/lookup.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'

/** Go escapes these characters in JSON, and the value of an error is JSON. */
const escapes: Readonly<Record<string, string>> = {
  '<': String.raw`\u003c`,
  '>': String.raw`\u003e`,
  '&': String.raw`\u0026`,
  '\u2028': String.raw`\u2028`,
  '\u2029': String.raw`\u2029`,
}

const goJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => lookup(escapes, character) ?? character)

/** An error whose value is an object of upstream, in the form in which Go writes it. */
export const invalidGoObject = (field: string, value: object, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${goJson(value)}: ${detail}`,
})
