// For tests of kinds: objects as the API server would store them, validation errors, and columns.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { fieldErrorText } from '../../schema/validation/field-error.ts'
import { validateFields } from '../../schema/validation/validate.ts'
import type { Kind } from './kind.ts'
import type { ApiObject } from '../meta/object.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'

export const nowMs = Date.UTC(2030, 0, 1, 0, 1)

const metadata = {
  name: 'x',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2030-01-01T00:00:00Z',
}

/** The object with its defaults and the fields that the server adds, before validation. */
export function objectFrom<T extends ApiObject>(kind: Kind<T>, body: object): T {
  const { value } = decode(kind.message, { metadata, ...body })
  const typed = { ...value, apiVersion: kind.apiVersion, kind: kind.kind } as unknown as T
  const object = kind.applyDefaults(withDefaults(kind.message, typed))
  return kind.complete?.(object) ?? object
}

export function errorsOf<T extends ApiObject>(kind: Kind<T>, body: object): string[] {
  const object = objectFrom(kind, body)
  return [...validateFields(kind.message, object), ...kind.validate(object)].map(fieldErrorText)
}

export const updateErrorsOf = <T extends ApiObject>(kind: Kind<T>, before: object, after: object): string[] =>
  kind.validateUpdate(objectFrom(kind, after), objectFrom(kind, before)).map(fieldErrorText)

/** All cells, including those that only `-o wide` shows. */
export const cellsOf = <T extends ApiObject>(kind: Kind<T>, body: object): (string | Int64 | boolean | null)[] => {
  const object = objectFrom(kind, body)
  return kind.columns.map((column) => column.cell(object, nowMs))
}

/** The reason, the object, and the errors in order. */
export type InvalidCase = readonly [why: string, body: object, errors: readonly (string | RegExp)[]]

export function testInvalidObjects<T extends ApiObject>(kind: Kind<T>, invalidCases: readonly InvalidCase[]): void {
  for (const [why, body, expected] of invalidCases)
    test(`${kind.kind}: ${why}`, () => {
      const errors = errorsOf(kind, body)
      equal(errors.length, expected.length, errors.join('\n'))
      for (const [index, wanted] of expected.entries())
        if (wanted instanceof RegExp) match(errors[index] ?? '', wanted)
        else equal(errors[index], wanted)
    })
}
