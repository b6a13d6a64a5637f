import { doesNotThrow, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../core/v1/pod/pod.ts'
import { checkKind } from './check-kind.ts'

test('a kind is accepted', () => doesNotThrow(() => checkKind('of', pod)))

for (const [value, shown] of [
  ['pods', '"pods"'],
  [undefined, 'undefined'],
  [null, 'null'],
  [{ apiVersion: 'v1', kind: 'Pod' }, '{"apiVersion":"v1","kind":"Pod"}'],
] as const)
  test(`${shown} is no kind`, () =>
    throws(() => checkKind('of', value as never), {
      name: 'TypeError',
      message: `of: ${shown} is no kind; import it: import { pod } from 'coxswain'`,
    }))
