import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { allListeners, evaluateGateways } from './attachment/evaluate-gateways.ts'
import type { Gateway, Listener, ListenerSet } from './kinds/gateway-kinds.ts'
import {
  gatewayOf,
  grantOf,
  httpRouteOf,
  listener,
  listenerSetOf,
  planned,
  secretOf,
  sourcesOf,
  type Known,
} from './simulated-objects.harness.ts'
import { gatewayStatus } from './status/gateway-status.ts'
import { listenerSetStatus } from './status/listener-set-status.ts'

type Allowed = NonNullable<Gateway['spec']['allowedListeners']>['namespaces']

const all: Allowed = { from: 'All' }
const gatewayWith = (namespaces: Allowed, listeners = [listener('own', { hostname: 'own.com' })]): Gateway =>
  gatewayOf('gateway', listeners, namespaces === undefined ? {} : { allowedListeners: { namespaces } })
const named = (hostname: string, more: Partial<Listener> = {}): Listener =>
  listener(hostname.replace(/\W/g, '-'), { hostname, ...more })

const reason = (conditions: NonNullable<Gateway['status']>['conditions'] = [], type: string) =>
  conditions.find((each) => each.type === type)?.reason

/** The statuses of the ListenerSets, and how many are attached. */
function statusesOf(gateway: Gateway, sets: readonly ListenerSet[], known: Known = {}) {
  const sources = sourcesOf({ ...known, listenerSets: new Map([['default/gateway', sets]]) })
  const plan = planned([gateway], [], sources)
  const [verdict] = plan.gateways
  if (verdict === undefined) throw new Error('there is no verdict')
  const own = {
    time: 't',
    portState: () => ({ kind: 'open', port: 80 }) as const,
    attachedRoutes: () => 0,
  }
  return {
    count: gatewayStatus(verdict, own).attachedListenerSets,
    sets: verdict.listenerSets.map((each) => {
      const { conditions, listeners = [] } = listenerSetStatus(each, verdict, own)
      const texts = listeners.map(
        ({ name, conditions: found }) =>
          `${name}: ${['Accepted', 'Programmed', 'ResolvedRefs'].map((type) => reason(found, type)).join(' ')}`,
      )
      return [`${reason(conditions, 'Accepted')} ${reason(conditions, 'Programmed')}`, ...texts]
    }),
  }
}

const allowed: readonly (readonly [string, Allowed, boolean])[] = [
  ['nothing', undefined, false],
  ['None', { from: 'None' }, false],
  ['Same', { from: 'Same' }, false],
  ['All', all, true],
  ['a selector with the labels', { from: 'Selector', selector: { matchLabels: { team: 'blue' } } }, true],
  ['a selector with other labels', { from: 'Selector', selector: { matchLabels: { team: 'red' } } }, false],
  ['no selector', { from: 'Selector' }, false],
]

suite('a ListenerSet of another namespace is attached only if the Gateway allows it', () => {
  for (const [name, namespaces, isAttached] of allowed)
    test(name, () => {
      const known = { namespaces: { other: { team: 'blue' } } }
      const { sets, count } = statusesOf(
        gatewayWith(namespaces),
        [listenerSetOf('a', [named('a.com')], 'other')],
        known,
      )
      deepEqual(
        [sets[0], count],
        isAttached
          ? [['Accepted Programmed', 'a-com: Accepted Programmed ResolvedRefs'], 1]
          : [['NotAllowed NotAllowed'], undefined],
      )
    })
})

test('a ListenerSet of the same namespace is attached if the Gateway allows those', () => {
  equal(statusesOf(gatewayWith({ from: 'Same' }), [listenerSetOf('a', [named('a.com')])]).count, 1)
})

suite('conflicts', () => {
  test('the Gateway comes before ListenerSets, and an older one before a younger one', () => {
    const first = listenerSetOf('first', [named('a.com'), named('own.com'), named('b.com')])
    const second = listenerSetOf('second', [named('b.com')])
    const { sets, count } = statusesOf(gatewayWith(all), [first, second])
    const conflict = 'HostnameConflict HostnameConflict ResolvedRefs'
    deepEqual(sets, [
      [
        'ListenersNotValid Programmed',
        'a-com: Accepted Programmed ResolvedRefs',
        `own-com: ${conflict}`,
        'b-com: Accepted Programmed ResolvedRefs',
      ],
      ['ListenersNotValid ListenersNotValid', `b-com: ${conflict}`],
    ])
    equal(count, 1)
  })

  test('a protocol that another listener of the port does not have', () => {
    const set = listenerSetOf('a', [named('a.com', { protocol: 'TLS', tls: { mode: 'Passthrough' } })])
    deepEqual(statusesOf(gatewayWith(all), [set]).sets, [
      ['ListenersNotValid ListenersNotValid', 'a-com: ProtocolConflict ProtocolConflict ResolvedRefs'],
    ])
  })
})

test('TCP on a port that another listener has conflicts with it; UDP does not', () => {
  const reasons = ['TCP', 'UDP'].map((protocol) => {
    const set = listenerSetOf('a', [listener('x', { protocol })])
    return statusesOf(gatewayWith(all), [set]).sets[0]?.[1]
  })
  deepEqual(reasons, [
    'x: ProtocolConflict ProtocolConflict ResolvedRefs',
    'x: UnsupportedProtocol Invalid ResolvedRefs',
  ])
})

test('a ListenerSet of a Gateway that is not served is not accepted', () => {
  const gateway = gatewayOf('gateway', [listener('own')], {
    allowedListeners: { namespaces: all },
    addresses: [{ value: '192.0.2.9' }],
  })
  deepEqual(
    statusesOf(gateway, [listenerSetOf('a', [named('a.com')])]).sets[0]?.[0],
    'ParentNotAccepted ParentNotProgrammed',
  )
})

test('a ListenerSet needs a grant of its own for the Secret of another namespace', () => {
  const secrets = { 'default/tls': secretOf('pair') }
  const https = named('a.com', {
    port: 443,
    protocol: 'HTTPS',
    tls: { certificateRefs: [{ name: 'tls', namespace: 'default' }] },
  })
  const found = (from: string) => {
    const grant = grantOf('default', from, 'Secret')
    const own = {
      ...grant,
      spec: { ...grant.spec, from: grant.spec.from.map((each) => ({ ...each, namespace: 'other' })) },
    }
    return statusesOf(gatewayWith(all), [listenerSetOf('a', [https], 'other')], { secrets, grants: [own] }).sets[0]
  }
  deepEqual(found('ListenerSet'), ['Accepted Programmed', 'a-com: Accepted Programmed ResolvedRefs'])
  deepEqual(found('Gateway'), ['ListenersNotValid ListenersNotValid', 'a-com: Accepted Invalid RefNotPermitted'])
})

test('a ListenerSet that cannot be read is reported, and does not affect others', () => {
  const broken = { ...listenerSetOf('broken', []), spec: { parentRef: { name: 'gateway' } } } as unknown as ListenerSet
  const sources = sourcesOf({
    listenerSets: new Map([['default/gateway', [broken, listenerSetOf('a', [named('a.com')])]]]),
  })
  const { gateways, unservable } = planned([gatewayWith(all)], [], sources)
  deepEqual(
    unservable.map(({ kind, object }) => `${kind} ${object.metadata.name}`),
    ['ListenerSet broken'],
  )
  deepEqual(
    gateways.flatMap(allListeners).map(({ listener: { name } }) => name),
    ['own', 'a-com'],
  )
})

test('thousands of ListenerSets are evaluated in slices, one or more in each, and conflict as few do', () => {
  const sets = Array.from({ length: 2_000 }, (_, index) =>
    listenerSetOf(`set-${index}`, [named(`${index >> 1}.com`), listener(`tcp-${index}`, { protocol: 'TCP' })]),
  )
  const sources = sourcesOf({ listenerSets: new Map([['default/gateway', sets]]) })
  const evaluation = evaluateGateways([gatewayWith(all)], sources, () => '', { isUsedUp: () => true })
  let slices = 0
  let step = evaluation.next()
  for (; step.done !== true; step = evaluation.next()) slices++
  equal(slices, sets.length + 1)
  const listeners = step.value.flatMap(({ listenerSets }) => listenerSets.flatMap((each) => each.listeners))
  deepEqual(
    listeners.map(({ conflicted }) => conflicted.reason),
    sets.flatMap((_, index) => [index % 2 === 0 ? 'NoConflicts' : 'HostnameConflict', 'ProtocolConflict']),
  )
})

suite('routes', () => {
  const set = listenerSetOf('set', [named('set.com')])
  const sources = sourcesOf({ listenerSets: new Map([['default/gateway', [set]]]) })
  const setRef = { kind: 'ListenerSet', name: 'set' }
  const attached = (
    ...parentRefs: readonly { readonly name: string; readonly kind?: string; readonly sectionName?: string }[]
  ) => {
    const { routes, frontends } = planned([gatewayWith(all)], [httpRouteOf('r', { parentRefs })], sources)
    const hosts = ['own.com', 'set.com'].filter((host) => {
      const request = { method: 'GET', host, path: '/', query: '', header: () => undefined }
      return frontends.some((each) => each.routes.find(request) !== undefined)
    })
    return [...(routes[0]?.parents.map(({ accepted }) => accepted.reason) ?? []), ...hosts]
  }

  test('attach to the listeners of their parent only', () => {
    deepEqual(attached({ name: 'gateway' }), ['Accepted', 'own.com'])
    deepEqual(attached(setRef), ['Accepted', 'set.com'])
    deepEqual(attached({ name: 'gateway' }, setRef), ['Accepted', 'Accepted', 'own.com', 'set.com'])
  })

  test('find no listener of the ListenerSet in the Gateway', () => {
    deepEqual(attached({ name: 'gateway', sectionName: 'set-com' }), ['NoMatchingParent'])
    deepEqual(attached({ ...setRef, sectionName: 'set-com' }), ['Accepted', 'set.com'])
  })
})
