// Which nodes a selector matches.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { matchesNodeSelector } from './node-selection.ts'

const node = { metadata: { name: 'n', labels: { zone: 'a', cores: '16' } } }
const says = (key: string, operator: string, ...values: string[]) => ({ matchExpressions: [{ key, operator, values }] })
const named = (operator: string, ...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator, values }] })

const rows: readonly [why: string, terms: object[], isMeant: boolean][] = [
  ['no terms mean no node', [], false],
  ['an empty term means no node', [{}], false],
  ['one of the values', [says('zone', 'In', 'b', 'a')], true],
  ['none of the values', [says('zone', 'NotIn', 'b')], true],
  ['a label that must not be there', [says('zone', 'DoesNotExist')], false],
  ['more than', [says('cores', 'Gt', '15')], true],
  ['not less than', [says('cores', 'Lt', '16')], false],
  ['numbers are compared as numbers', [says('cores', 'Gt', '9')], true],
  ['text instead of a number', [says('zone', 'Gt', '1')], false],
  ['an operator that is not known', [says('zone', 'Like', 'a')], false],
  ['a name', [named('In', 'n')], true],
  ['not that name', [named('NotIn', 'n')], false],
  ['either of two terms', [says('zone', 'In', 'b'), named('In', 'n')], true],
  ['all of one term', [{ ...says('zone', 'In', 'b'), ...named('In', 'n') }], false],
]
for (const [why, nodeSelectorTerms, isMeant] of rows)
  test(`a node selector: ${why}`, () => equal(matchesNodeSelector({ nodeSelectorTerms }, node), isMeant))
