// Tables for the condition Available of an APIService.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { apiService, type APIService } from '../../api/apiregistration/v1/api-service.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { objectFrom } from '../../api/kind/kind.harness.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'
import { failedDiscovery, passed, serviceAvailability, withAvailability } from './availability.ts'
import { extensionOf } from './extensions.ts'

const registered = objectFrom(apiService, {
  metadata: { name: 'v1.a.io' },
  spec: {
    group: 'a.io',
    version: 'v1',
    groupPriorityMinimum: 1,
    versionPriority: 1,
    service: { namespace: 'default', name: 'api', port: 443 },
  },
})
const extension = extensionOf(registered)

const serviceWith = (spec: object) => ({
  kind: service,
  object: { metadata: { name: 'api', namespace: 'default' }, spec },
})
const https = { ports: [{ name: 'https', port: 443 }] }
const sliceWith = (more: object) => ({
  kind: endpointSlice,
  object: {
    metadata: { name: 'api-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'api' } },
    addressType: 'IPv4',
    ...more,
  },
})
const address = { addresses: ['10.0.0.1'] }

type Entry = { readonly kind: Kind; readonly object: object }

const listerOf = (entries: readonly Entry[]): ObjectLister => ({
  get: <T extends ApiObject>(kind: Kind<T>) =>
    entries.find((each) => each.kind === (kind as unknown as Kind))?.object as T | undefined,
  list: <T extends ApiObject>(kind: Kind<T>) =>
    entries.filter((each) => each.kind === (kind as unknown as Kind)).map(({ object }) => object as T),
})

const cases: readonly [name: string, objects: readonly Entry[], reason: string | undefined, message?: string][] = [
  ['no Service', [], 'ServiceNotFound', 'service/api in "default" is not present'],
  [
    'another port',
    [serviceWith({ ports: [{ port: 80 }] })],
    'ServicePortError',
    'service/api in "default" is not listening on port 443',
  ],
  [
    'no EndpointSlice',
    [serviceWith(https)],
    'EndpointsNotFound',
    'cannot find endpointslices for service/api in "default"',
  ],
  [
    'an EndpointSlice of another port',
    [serviceWith(https), sliceWith({ ports: [{ name: 'http', port: 80 }], endpoints: [address] })],
    'MissingEndpoints',
    'endpointslices for service/api in "default" have no addresses with port name "https"',
  ],
  [
    'an endpoint that is not ready',
    [
      serviceWith(https),
      sliceWith({ ports: [{ name: 'https', port: 6443 }], endpoints: [{ ...address, conditions: { ready: false } }] }),
    ],
    'MissingEndpoints',
    'endpointslices for service/api in "default" have no addresses with port name "https"',
  ],
  [
    'a ready endpoint',
    [serviceWith(https), sliceWith({ ports: [{ name: 'https', port: 6443 }], endpoints: [address] })],
    undefined,
  ],
  ['another type of Service is not checked', [serviceWith({ type: 'ExternalName', externalName: 'a' })], undefined],
]

for (const [name, objects, reason, message] of cases)
  test(name, () => {
    const found = extension && serviceAvailability(extension, listerOf(objects))
    deepEqual([found?.reason, found?.message], [reason, message])
  })

test('the time of transition changes with the status only, and nothing is written where nothing changes', () => {
  const conditionOf = ({ status }: APIService) => status.conditions?.[0]
  const first = withAvailability(registered, failedDiscovery('refused'), 0)
  deepEqual(conditionOf(first), {
    type: 'Available',
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: 'refused',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  })
  equal(withAvailability(first, failedDiscovery('refused'), 5_000), first)
  const second = withAvailability(first, failedDiscovery('timed out'), 5_000)
  equal(conditionOf(second)?.lastTransitionTime, '1970-01-01T00:00:00Z')
  const third = withAvailability(second, passed, 5_000)
  deepEqual([conditionOf(third)?.status, conditionOf(third)?.lastTransitionTime], ['True', '1970-01-01T00:00:05Z'])
})
