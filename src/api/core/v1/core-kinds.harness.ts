// Rows about core kinds: an object and the errors of its validation; errors of an update; cells of a table.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../../schema/decoding/decode.ts'
import { withDefaults } from '../../../schema/decoding/defaults.ts'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { validateFields } from '../../../schema/validation/validate.ts'
import type { Kind } from '../../kind/kind.ts'
import type { ApiObject } from '../../meta/object.ts'
import type { Int64 } from '../../../schema/scalar/int64.ts'

export const nowMs = Date.UTC(2030, 0, 1, 0, 1)
export const meta = { name: 'x', namespace: 'default', uid: 'u', creationTimestamp: '2030-01-01T00:00:00Z' }

/** The object as it is in the API server before validation. */
export function made<T extends ApiObject>(kind: Kind<T>, body: object): T {
  const { value } = decode(kind.message, { metadata: meta, ...body })
  const typed = { ...value, apiVersion: kind.apiVersion, kind: kind.kind } as unknown as T
  const object = kind.applyDefaults(withDefaults(kind.message, typed))
  return kind.complete?.(object) ?? object
}

export const errorsOf = <T extends ApiObject>(kind: Kind<T>, body: object): string[] => {
  const object = made(kind, body)
  return [...validateFields(kind.message, object), ...kind.validate(object)].map(fieldErrorText)
}

export const changeErrors = <T extends ApiObject>(kind: Kind<T>, body: object, old: object): string[] =>
  kind.validateUpdate(made(kind, body), made(kind, old)).map(fieldErrorText)

export const cells = <T extends ApiObject>(kind: Kind<T>, body: object): (string | Int64 | boolean | null)[] =>
  kind.columns.map((column) => column.cell(made(kind, body), nowMs))

export interface Row<T extends ApiObject> {
  readonly kind: Kind<T>
  readonly why: string
  readonly body: object
  /** Each is the complete error, or its beginning followed by an ellipsis. */
  readonly errors: readonly string[]
}

export const row = <T extends ApiObject>(kind: Kind<T>, why: string, body: object, ...errors: string[]): Row<T> => ({
  kind,
  why,
  body,
  errors,
})

export function check<T extends ApiObject>({ kind, why, body, errors }: Row<T>): void {
  test(`${kind.kind}: ${why}`, () => {
    const got = errorsOf(kind, body)
    deepEqual(
      got.map((text, index) => {
        const wanted = errors[index] ?? ''
        return wanted.endsWith('…') && text.startsWith(wanted.slice(0, -1)) ? wanted : text
      }),
      errors,
    )
  })
}

export const ports = [{ port: 80 }]
export const inSpec = (spec: object) => ({ spec })
