import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { objectFrom } from '../../../kind/kind.harness.ts'
import { matchesRequiredAffinity } from './node-selection.ts'
import { node } from '../node/node.ts'
import { pod } from '../pod/pod.ts'

const aNode = objectFrom(node, { metadata: { name: 'a', labels: { zone: 'x', size: '5' } } })
const terms = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
})
const demand = (key: string, operator: string, values: string[] = []) => ({ key, operator, values })
const labelled = (...matchExpressions: object[]) => terms({ matchExpressions })
const named = (...values: string[]) => terms({ matchFields: [demand('metadata.name', 'In', values)] })

const cases: [why: string, spec: object, isAccepted: boolean][] = [
  ['no demands', {}, true],
  ['a label of the selector', { nodeSelector: { zone: 'x' } }, true],
  ['another value', { nodeSelector: { zone: 'y' } }, false],
  ['In', labelled(demand('zone', 'In', ['x', 'y'])), true],
  ['NotIn an absent label', labelled(demand('none', 'NotIn', ['x'])), true],
  ['NotIn', labelled(demand('zone', 'NotIn', ['x'])), false],
  ['Exists', labelled(demand('zone', 'Exists')), true],
  ['DoesNotExist', labelled(demand('zone', 'DoesNotExist')), false],
  ['Gt', labelled(demand('size', 'Gt', ['4'])), true],
  ['Lt', labelled(demand('size', 'Lt', ['4'])), false],
  ['Gt with a label that is not a number', labelled(demand('zone', 'Gt', ['4'])), false],
  ['two requirements in a term', labelled(demand('zone', 'Exists'), demand('none', 'Exists')), false],
  [
    'one of two terms',
    terms({ matchExpressions: [demand('none', 'Exists')] }, { matchExpressions: [demand('zone', 'Exists')] }),
    true,
  ],
  ['its name', named('a'), true],
  ['another name', named('b'), false],
  ['an empty term', terms({}), false],
]
for (const [why, spec, isAccepted] of cases)
  test(`a node is ${isAccepted ? 'accepted' : 'rejected'}: ${why}`, () =>
    equal(matchesRequiredAffinity(objectFrom(pod, { spec: { containers: [], ...spec } }).spec, aNode), isAccepted))
