import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseIp } from '../../base/net/ip-address.ts'
import type { PortEndpoint } from '../routing/endpoint-selection.ts'
import type { ServiceRoute } from '../routing/service-route.ts'
import { stickyChains } from './sticky-chains.ts'

const long = 'a'.repeat(63)
const routeOf = (portName: string) =>
  ({
    service: `${long}/${long}`,
    portName,
    port: 65_535,
    protocol: 'SCTP',
    family: 'IPv6',
    affinitySeconds: 86_400,
  }) as unknown as ServiceRoute
const endpoints = [
  { address: mustParseIp('2001:db8:1111:2222:3333:4444:5555:6666'), port: 65_535 },
] as unknown as readonly PortEndpoint[]

test('the longest names and IPv6 addresses have chains and sets with names that the kernel accepts', () => {
  for (const use of ['internal', 'external', 'own'] as const) {
    const names = [...(stickyChains(routeOf(long), use, endpoints)?.objects.keys() ?? [])]
    deepEqual(
      names.map((name) => [name.split('-')[0], name.length <= 255]),
      [
        ['clients', true],
        ['to', true],
        ['sticky', true],
      ],
    )
  }
})

test('longer names have no chains', () => equal(stickyChains(routeOf(`${long}${long}`), 'own', endpoints), undefined))
