// Rows about the rules of pods: a spec and the errors of its validation.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../../../schema/decoding/decode.ts'
import { withDefaults } from '../../../../schema/decoding/defaults.ts'
import { fieldErrorText } from '../../../../schema/validation/field-error.ts'
import { validateFields } from '../../../../schema/validation/validate.ts'
import type { Kind } from '../../../kind/kind.ts'
import type { ApiObject } from '../../../meta/object.ts'
import { pod } from './pod.ts'

/** The object as it is in the API server before validation. */
export function made<T extends ApiObject>(kind: Kind<T>, spec: object, annotations: object = {}): T {
  const metadata = { name: 'x', namespace: 'default', annotations }
  const { value } = decode(kind.message, { metadata, spec })
  return kind.applyDefaults(withDefaults(kind.message, value as unknown as T))
}

export function errorsOf<T extends ApiObject>(kind: Kind<T>, spec: object): string[] {
  const object = made(kind, spec)
  return [...validateFields(kind.message, object), ...kind.validate(object)].map(fieldErrorText)
}

export const container = { name: 'c', image: 'i' }
export const withContainer = (more: object, spec: object = {}): object => ({
  containers: [{ ...container, ...more }],
  ...spec,
})
export const withVolume = (volume: object): object => ({ containers: [container], volumes: [volume] })
export const withSpec = (spec: object): object => ({ containers: [container], ...spec })
export const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

export const restartRule = (more: object = {}) => ({
  action: 'Restart',
  exitCodes: { operator: 'In', values: [3] },
  ...more,
})
export const withRules = (...restartPolicyRules: object[]) =>
  withContainer({ restartPolicy: 'Never', restartPolicyRules })
export const ruleAt = 'spec.containers[0].restartPolicyRules'

export type Row = [why: string, spec: object, errors: string[]]

/** A test for each row. */
export function checkRows(rows: readonly Row[]): void {
  for (const [why, spec, expected] of rows)
    test(`a Pod with ${why} is ${expected.length === 0 ? 'accepted' : 'rejected'}`, () => {
      deepEqual(errorsOf(pod, spec), expected)
    })
}
