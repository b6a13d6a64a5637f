// FieldError: an error about one field, in upstream's wording, which scripts parse.
import { goFloat } from './go-float.ts'
import { goJson } from './go-json.ts'
import { goQuoted } from '../json/go-quoted.ts'

export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueNotFound'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

export interface FieldError {
  readonly reason: FieldErrorReason
  readonly field: string
  /** Without the field's name: `Invalid value: -1: must be greater than or equal to 0`. */
  readonly message: string
}

/** The message is built when it is read: a long value may be part of more errors than fit into a response. */
const error = (reason: FieldErrorReason, field: string, message: () => string): FieldError => ({
  reason,
  field,
  get message() {
    return message()
  },
})

export const required = (field: string, detail = ''): FieldError =>
  error('FieldValueRequired', field, () => (detail === '' ? 'Required value' : `Required value: ${detail}`))

export const invalid = (field: string, value: unknown, detail: string): FieldError =>
  error('FieldValueInvalid', field, () => `Invalid value: ${shown(value)}: ${detail}`)

/** A value whose type is not that of its schema. */
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError =>
  error('FieldValueTypeInvalid', field, () => `Invalid value: ${shown(value)}: ${detail}`)

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  error(
    'FieldValueNotSupported',
    field,
    () => `Unsupported value: ${shown(value)}: supported values: ${supported.map(goQuoted).join(', ')}`,
  )

export const forbidden = (field: string, detail: string): FieldError =>
  error('FieldValueForbidden', field, () => `Forbidden: ${detail}`)

export const duplicate = (field: string, value: unknown): FieldError =>
  error('FieldValueDuplicate', field, () => `Duplicate value: ${shown(value)}`)

export const notFound = (field: string, value: unknown): FieldError =>
  error('FieldValueNotFound', field, () => `Not found: ${shown(value)}`)

/** The value cannot be checked. */
export const internalError = (field: string, detail: string): FieldError =>
  error('InternalError', field, () => `Internal error: ${detail}`)

export const tooMany = (field: string, count: number, max: number): FieldError =>
  error(
    'FieldValueTooMany',
    field,
    () => `Too many: ${count}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  )

export const tooLong = (field: string, max: number): FieldError =>
  error('FieldValueTooLong', field, () => `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`)

export const immutable = (field: string, value: unknown): FieldError => invalid(field, value, 'field is immutable')

/** `spec.containers[0].name: Required value` */
export const fieldErrorText = ({ field, message }: FieldError): string => `${field}: ${message}`

function shown(value: unknown): string {
  if (typeof value === 'string') return goQuoted(value)
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? String(value) : goFloat(value)
  return value === undefined ? 'null' : goJson(value)
}
