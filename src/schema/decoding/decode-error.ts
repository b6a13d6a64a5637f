// Errors of decoding, in the wording of Go's decoder, and paths to what is wrong.
import { jsonKind } from '../json/json-value.ts'
import { structName } from './go-names.ts'

/** Deeper nesting is rejected; no API type comes near it. */
export const decodeDepthMax = 100

/** The body is not of the declared type: the whole request is malformed. */
export class DecodeError extends Error {
  override name = 'DecodeError'
}

/** A value of the wrong type. Each enclosing message adds the field's name on the way out, so the innermost is the first. */
export class FieldTypeError extends Error {
  readonly #text: (path: string) => string
  readonly #names: string[] = []

  constructor(text: (path: string) => string) {
    super('a value of the wrong type')
    this.#text = text
  }

  addName(name: string): this {
    this.#names.push(name)
    return this
  }

  toDecodeError(): DecodeError {
    return new DecodeError(this.#text(this.#names.toReversed().join('.')))
  }
}

/** Adds the name of the field in which an error was thrown. */
export const inField = (error: unknown, name: string): unknown =>
  error instanceof FieldTypeError ? error.addName(name) : error

/** Go's message names the struct of the field, and the path without indices. */
export const wrongType = (
  value: unknown,
  wanted: string,
  messageName: string,
  shown = jsonKind(value),
): FieldTypeError => {
  const struct = structName(messageName)
  return new FieldTypeError(
    (path) => `json: cannot unmarshal ${shown} into Go struct field ${struct}.${path} of type ${wanted}`,
  )
}

/** Not an integer, or out of range. */
export const wrongInteger = (value: unknown, wanted: string, messageName: string): FieldTypeError =>
  wrongType(
    value,
    wanted,
    messageName,
    jsonKind(value) === 'number' ? `number ${integerText(value as number | bigint)}` : jsonKind(value),
  )

const integerText = (value: number | bigint): string =>
  Number.isInteger(value) ? String(BigInt(value)) : String(value)

export const tooDeep = (): FieldTypeError =>
  new FieldTypeError((path) => `${path}: nested more than ${decodeDepthMax} levels deep`)

/** A choice whose value has none of its forms. */
export const neitherForm = (): DecodeError => new DecodeError('boolean or JSON schema expected')

/** Prepends a step to the paths from an index on. */
export function prependStep(paths: string[], from: number, step: string): void {
  for (let index = from; index < paths.length; index++) paths[index] = `${step}${paths[index]}`
}
