// FieldError: one thing that is wrong with one field, in upstream's words: scripts and people read them.
import { goQuoted } from './go-quoted.ts'

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

export interface FieldError {
  readonly reason: FieldErrorReason
  readonly field: string
  /** Without the field's name: `Invalid value: -1: must be greater than or equal to 0`. */
  readonly message: string
}

/** The message is written when it is read: the same long value may stand in more errors than an answer has room for. */
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

/** A value of another type than its schema says. */
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError =>
  error('FieldValueTypeInvalid', field, () => `Invalid value: ${shown(value)}: ${detail}`)

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  error(
    'FieldValueNotSupported',
    field,
    () =>
      `Unsupported value: ${shown(value)}: supported values: ${supported.map((name) => JSON.stringify(name)).join(', ')}`,
  )

export const forbidden = (field: string, detail: string): FieldError =>
  error('FieldValueForbidden', field, () => `Forbidden: ${detail}`)

export const duplicate = (field: string, value: unknown): FieldError =>
  error('FieldValueDuplicate', field, () => `Duplicate value: ${shown(value)}`)

export const notFound = (field: string, value: unknown): FieldError =>
  error('FieldValueNotFound', field, () => `Not found: ${shown(value)}`)

export const tooMany = (field: string, count: number, max: number): FieldError =>
  error(
    'FieldValueTooMany',
    field,
    () => `Too many: ${count}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  )

export const tooLong = (field: string, max: number): FieldError =>
  error('FieldValueTooLong', field, () => `Too long: may not be more than ${max} bytes`)

export const immutable = (field: string, value: unknown): FieldError => invalid(field, value, 'field is immutable')

/** `spec.containers[0].name: Required value` */
export const fieldErrorText = ({ field, message }: FieldError): string => `${field}: ${message}`

function shown(value: unknown): string {
  if (typeof value === 'string') return goQuoted(value)
  return value === undefined ? 'null' : JSON.stringify(value)
}
