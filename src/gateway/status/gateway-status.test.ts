import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PortState } from '../../ingress/data-plane/frontends.ts'
import type { Gateway, Listener } from '../kinds/gateway-kinds.ts'
import { gatewayOf, httpRouteOf, listener, planned, secretOf, sourcesOf } from '../simulated-objects.harness.ts'
import { gatewayStatus } from './gateway-status.ts'

const open: PortState = { kind: 'open', port: 80 }
const failed: PortState = { kind: 'failed', why: 'listen EADDRINUSE' }

function statusOf(gateway: Gateway, state: PortState | 'unknown' = open, time = 't1') {
  const secrets = { 'default/tls': secretOf('pair') }
  const { gateways, attached } = planned([gateway], [httpRouteOf('r')], sourcesOf({ secrets }))
  const [verdict] = gateways
  if (verdict === undefined) throw new Error('there is no verdict')
  return gatewayStatus(verdict, {
    time,
    portState: () => (state === 'unknown' ? undefined : state),
    attachedRoutes: (own) => attached.get(own.listener) ?? 0,
  })
}

/** `Type=Status Reason`, separated by commas. */
const conditionsText = (conditions: NonNullable<Gateway['status']>['conditions'] = []) =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).join(', ')

const https = (name: string, secret: string): Listener =>
  listener(name, { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: secret }] } })
const udp = listener('udp', { port: 53, protocol: 'UDP' })

interface Case {
  readonly name: string
  readonly listeners: readonly Listener[]
  readonly spec?: Partial<Gateway['spec']>
  /** Open when left out. */
  readonly state?: PortState | 'unknown'
  readonly gateway: string
  readonly programmed: readonly string[]
  readonly addresses?: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'a served listener',
    listeners: [listener('a')],
    gateway: 'Accepted=True Accepted, Programmed=True Programmed',
    programmed: ['Programmed: port 80 is open'],
    addresses: ['192.0.2.1'],
  },
  {
    name: 'a requested address',
    listeners: [listener('a')],
    spec: { addresses: [{ value: '192.0.2.1' }, {}] },
    gateway: 'Accepted=True Accepted, Programmed=True Programmed',
    programmed: ['Programmed: port 80 is open'],
    addresses: ['192.0.2.1'],
  },
  {
    name: 'an address of another proxy',
    listeners: [listener('a')],
    spec: { addresses: [{ value: '192.0.2.9' }] },
    gateway: 'Accepted=True Accepted, Programmed=False AddressNotUsable',
    programmed: ['Invalid: the Gateway is not served'],
  },
  {
    name: 'parameters',
    listeners: [listener('a')],
    spec: { infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'x' } } },
    gateway: 'Accepted=False InvalidParameters, Programmed=False Invalid',
    programmed: ['Invalid: the Gateway is not served'],
  },
  {
    name: 'one of two listeners that is not valid',
    listeners: [listener('a'), udp],
    gateway: 'Accepted=True ListenersNotValid, Programmed=True Programmed',
    programmed: ['Programmed: port 80 is open', 'Invalid: protocol UDP is not supported; HTTP, HTTPS and TLS are'],
    addresses: ['192.0.2.1'],
  },
  {
    name: 'no valid listener',
    listeners: [udp],
    gateway: 'Accepted=False ListenersNotValid, Programmed=False Invalid',
    programmed: ['Invalid: protocol UDP is not supported; HTTP, HTTPS and TLS are'],
  },
  {
    name: 'a missing certificate',
    listeners: [https('a', 'gone')],
    gateway: 'Accepted=True Accepted, Programmed=False Invalid',
    programmed: ['Invalid: Secret default/gone does not exist'],
  },
  {
    name: 'a certificate',
    listeners: [https('a', 'tls')],
    gateway: 'Accepted=True Accepted, Programmed=True Programmed',
    programmed: ['Programmed: port 443 is open'],
    addresses: ['192.0.2.1'],
  },
  {
    name: 'a port that cannot be opened',
    listeners: [listener('a')],
    state: failed,
    gateway: 'Accepted=False ListenersNotValid, Programmed=False Invalid',
    programmed: ['Invalid: port 80 cannot be opened: listen EADDRINUSE'],
  },
  {
    name: 'a port of which nothing is known',
    listeners: [listener('a')],
    state: 'unknown',
    gateway: 'Accepted=False ListenersNotValid, Programmed=False Invalid',
    programmed: ['Invalid: port 80 cannot be opened'],
  },
]

suite('the status of a Gateway with', () => {
  for (const { name, listeners, spec, state = open, gateway, programmed, addresses } of cases)
    test(name, () => {
      const status = statusOf(gatewayOf('gateway', listeners, spec), state)
      equal(conditionsText(status.conditions), gateway)
      deepEqual(
        status.addresses,
        addresses?.map((value) => ({ type: 'IPAddress', value })),
      )
      const found = status.listeners?.map(({ conditions }) => {
        const condition = conditions.find(({ type }) => type === 'Programmed')
        return `${condition?.reason}: ${condition?.message}`
      })
      deepEqual(found, programmed)
    })
})

test('a listener reports its routes, the kinds that it supports and its conditions', () => {
  const [found] = statusOf(gatewayOf('gateway', [listener('a')])).listeners ?? []
  deepEqual(
    [found?.name, found?.attachedRoutes, found?.supportedKinds],
    ['a', 1, ['GRPCRoute', 'HTTPRoute'].map((kind) => ({ group: 'gateway.networking.k8s.io', kind }))],
  )
  equal(
    conditionsText(found?.conditions),
    'Accepted=True Accepted, Conflicted=False NoConflicts, Programmed=True Programmed, ResolvedRefs=True ResolvedRefs',
  )
})

test('a listener whose port cannot be opened is not accepted', () => {
  const [found] = statusOf(gatewayOf('gateway', [listener('a')]), failed).listeners ?? []
  equal(conditionsText(found?.conditions).split(', ')[0], 'Accepted=False PortUnavailable')
})

test('conditions keep the times of their last changes', () => {
  const gateway = gatewayOf('gateway', [listener('a')])
  const status = statusOf({ ...gateway, status: statusOf(gateway, open, 't1') }, failed, 't2')
  const times = (conditions: NonNullable<Gateway['status']>['conditions'] = []) =>
    conditions.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`)
  deepEqual(times(status.conditions), ['Accepted t2', 'Programmed t2'])
  deepEqual(times(status.listeners?.[0]?.conditions), [
    'Accepted t2',
    'Conflicted t1',
    'Programmed t2',
    'ResolvedRefs t1',
  ])
})
