// The address of a webhook's Service.
import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { TestCaches } from '../watch-cache/caches.harness.ts'
import { serviceAddress } from './service-address.ts'

interface Row {
  readonly what: string
  readonly spec?: object
  readonly slices?: readonly object[]
  readonly address: string | RegExp
}

const ports = [{ name: 'https', port: 443 }]
const slice = (more: object) => ({
  metadata: { name: 's', namespace: 'ns', labels: { 'kubernetes.io/service-name': 'hook' } },
  ports: [{ name: 'https', port: 8443 }],
  endpoints: [{ addresses: ['10.0.0.7'] }],
  ...more,
})

const rows: readonly Row[] = [
  { what: 'a ready endpoint', spec: { ports }, slices: [slice({})], address: '10.0.0.7:8443' },
  {
    what: 'an IPv6 endpoint',
    spec: { ports },
    slices: [slice({ endpoints: [{ addresses: ['fd00::7'] }] })],
    address: '[fd00::7]:8443',
  },
  {
    what: 'the first endpoint that is ready',
    spec: { ports },
    slices: [
      slice({ endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }, { addresses: ['10.0.0.2'] }] }),
    ],
    address: '10.0.0.2:8443',
  },
  {
    what: 'a port without a name',
    spec: { ports: [{ port: 443 }] },
    slices: [slice({ ports: [{ port: 9443 }] })],
    address: '10.0.0.7:9443',
  },
  {
    what: 'an external name',
    spec: { type: 'ExternalName', externalName: 'hook.example.com', ports },
    address: 'hook.example.com:443',
  },
  { what: 'no Service', address: /^service "hook" not found$/ },
  { what: 'another port', spec: { ports: [{ port: 80 }] }, address: /^no service port 443 found for service "hook"$/ },
  { what: 'no ports', spec: {}, address: /^no service port 443 found for service "hook"$/ },
  { what: 'no endpoints', spec: { ports }, address: /^no endpoints available for service "hook"$/ },
  {
    what: 'endpoints of another Service',
    spec: { ports },
    slices: [slice({ metadata: { name: 's', namespace: 'ns', labels: {} } })],
    address: /^no endpoints available for service "hook"$/,
  },
]
for (const { what, spec, slices = [], address } of rows)
  test(`the address of a Service with ${what}`, () => {
    const caches = new TestCaches()
    if (spec !== undefined)
      caches.set(service, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'hook', namespace: 'ns' },
        spec,
      } as never)
    for (const each of slices) caches.set(endpointSlice, each as never)
    const find = () => serviceAddress({ namespace: 'ns', name: 'hook', port: 443 }, caches)
    if (typeof address === 'string') equal(find(), address)
    else throws(find, { message: address })
  })
