// Which routes are created and deleted.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../api/core/v1/node/node.ts'
import { made } from '../../controllers/runtime/plan.harness.ts'
import type { CloudRoute } from '../provider/cloud-provider.ts'
import { routePlan } from './route-plan.ts'

const nodeWith = (name: string, ...podCIDRs: string[]) => made(node, name, { spec: { podCIDRs } })
const route = (nodeName: string, destinationCidr: string, isBlackhole = false): CloudRoute => ({
  name: `${nodeName}-route`,
  nodeName,
  destinationCidr,
  isBlackhole,
})
const [a1, a2, b1] = ['10.0.1.0/24', 'fd00::/64', '10.0.2.0/24'] as const

const cases: [why: string, existing: CloudRoute[], creates: string[], deletes: string[]][] = [
  ['missing ones are created', [], [`a ${a1}`, `a ${a2}`, `b ${b1}`], []],
  ['existing ones are kept', [route('a', a1), route('a', a2), route('b', b1)], [], []],
  ['one to another node is replaced', [route('b', a1), route('a', a2), route('b', b1)], [`a ${a1}`], [`b ${a1}`]],
  [
    'one of a node that is gone is deleted',
    [route('a', a1), route('a', a2), route('b', b1), route('c', '10.0.3.0/24')],
    [],
    ['c 10.0.3.0/24'],
  ],
  ['a broken one is replaced', [route('a', a1, true), route('a', a2), route('b', b1)], [`a ${a1}`], [`a ${a1}`]],
  [
    'one outside the ranges of pods is kept',
    [route('a', a1), route('a', a2), route('b', b1), route('c', '172.16.0.0/12')],
    [],
    [],
  ],
]
for (const [why, existing, creates, deletes] of cases)
  test(`routes of nodes: ${why}`, () => {
    const plan = routePlan([nodeWith('a', a1, a2), nodeWith('b', b1), nodeWith('c')], existing, [
      '10.0.0.0/16',
      'fd00::/48',
    ])
    const text = ({ nodeName, destinationCidr }: CloudRoute) => `${nodeName} ${destinationCidr}`
    deepEqual([plan.creates.map((each) => text(each.route)), plan.deletes.map(text)], [creates, deletes])
  })
