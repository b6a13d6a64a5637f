import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Listener } from '../kinds/gateway-kinds.ts'
import { gatewayOf, listener, listenerSetOf } from '../simulated-objects.harness.ts'
import { AllowedNamespaces } from './allowed-namespaces.ts'
import type { ListenerVerdict } from './listener-verdict.ts'

type Allowed = NonNullable<NonNullable<Listener['allowedRoutes']>['namespaces']>

const labels = new Map([
  ['default', { team: 'a' }],
  ['other', { team: 'b' }],
])
const names = ['default', 'other', 'gone']

const ownerGateway = { kind: 'Gateway', object: gatewayOf('g', []) } as const

/** The allowed namespaces, asked twice, and how often labels were read. */
function allowedOf(namespaces: Allowed, owner: ListenerVerdict['owner'] = ownerGateway) {
  const read: string[] = []
  const allowed = new AllowedNamespaces((name) => (read.push(name), labels.get(name)))
  const verdict = {
    listener: listener('a', { allowedRoutes: { namespaces } }),
    gateway: ownerGateway.object,
    owner,
  } as unknown as ListenerVerdict
  const found = [...names, ...names].filter((name) => allowed.has(verdict, name))
  return [found.slice(0, found.length / 2).join(), read.length]
}

const expression = (operator: string) => ({ matchExpressions: [{ key: 'team', operator, values: ['a'] }] })
const cases: readonly (readonly [string, Allowed, string, number])[] = [
  ['all', { from: 'All' }, 'default,other,gone', 0],
  ['that of the Gateway', { from: 'Same' }, 'default', 0],
  ['that of the Gateway by default', {}, 'default', 0],
  ['selected ones', { from: 'Selector', selector: { matchLabels: { team: 'b' } } }, 'other', 3],
  ['ones with an expression', { from: 'Selector', selector: expression('In') }, 'default', 3],
  ['none with an unknown operator', { from: 'Selector', selector: expression('Near') }, '', 3],
  ['none without a selector', { from: 'Selector' }, '', 3],
]

suite('a listener allows routes of namespaces, and decides once about each:', () => {
  for (const [name, namespaces, expected, read] of cases)
    test(name, () => deepEqual(allowedOf(namespaces), [expected, read]))

  test('that of the ListenerSet', () => {
    const owner = { kind: 'ListenerSet', object: listenerSetOf('s', [], 'other') } as const
    deepEqual(allowedOf({ from: 'Same' }, owner), ['other', 0])
  })
})
