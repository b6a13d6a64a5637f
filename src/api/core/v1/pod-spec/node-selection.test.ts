// Which nodes a selector matches.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { matchesNodeSelector } from './node-selection.ts'

const node = { metadata: { name: 'n', labels: { zone: 'a', cores: '16' } } }
const labelled = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
})
const named = (operator: string, ...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator, values }] })

const rows: readonly [why: string, terms: object[], isMatch: boolean][] = [
  ['no terms match no node', [], false],
  ['an empty term matches no node', [{}], false],
  ['one of the values', [labelled('zone', 'In', 'b', 'a')], true],
  ['none of the values', [labelled('zone', 'NotIn', 'b')], true],
  ['DoesNotExist', [labelled('zone', 'DoesNotExist')], false],
  ['more than', [labelled('cores', 'Gt', '15')], true],
  ['Lt with an equal value', [labelled('cores', 'Lt', '16')], false],
  ['numbers are compared as numbers', [labelled('cores', 'Gt', '9')], true],
  ['Gt with a label that is not a number', [labelled('zone', 'Gt', '1')], false],
  ['an unknown operator', [labelled('zone', 'Like', 'a')], false],
  ['a name', [named('In', 'n')], true],
  ['NotIn of the name', [named('NotIn', 'n')], false],
  ['either of two terms', [labelled('zone', 'In', 'b'), named('In', 'n')], true],
  ['all of one term', [{ ...labelled('zone', 'In', 'b'), ...named('In', 'n') }], false],
]
for (const [why, nodeSelectorTerms, isMatch] of rows)
  test(`a node selector: ${why}`, () => equal(matchesNodeSelector({ nodeSelectorTerms }, node), isMatch))
