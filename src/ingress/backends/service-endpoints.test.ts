import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { SimulatedInformers } from '../simulated-informers.harness.ts'
import { ServiceEndpoints } from './service-endpoints.ts'

const labels = { 'kubernetes.io/service-name': 'web' }
const slice = (name: string, endpoints: readonly object[], more: object = {}) => ({
  metadata: { name, namespace: 'default', labels },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080 }],
  endpoints,
  ...more,
})
const endpoint = (address: string, conditions: object = { ready: true }) => ({ addresses: [address], conditions })
const web = { metadata: { name: 'web', namespace: 'default' }, spec: { ports: [{ name: 'http', port: 80 }] } }

function stage() {
  const informers = new SimulatedInformers()
  let changes = 0
  const endpoints = new ServiceEndpoints(informers.of(service), informers.of(endpointSlice), () => changes++)
  const addresses = (port: number | string = 80) =>
    endpoints
      .of({ namespace: 'default', service: 'web', port })
      .endpoints.map(({ address, port: own }) => `${address}:${own}`)
  return { informers, endpoints, addresses, changes: () => changes }
}

test('the ready endpoints of all slices serve a port, by number and by name', () => {
  const { informers, addresses } = stage()
  deepEqual(addresses(), [])
  informers.set('services', web)
  informers.set('endpointslices', slice('a', [endpoint('10.0.0.1'), endpoint('10.0.0.2', { ready: false })]))
  informers.set('endpointslices', slice('b', [endpoint('10.0.0.3', {}), { addresses: [], conditions: {} }]))
  deepEqual(addresses(), ['10.0.0.1:8080', '10.0.0.3:8080'])
  deepEqual(addresses('http'), ['10.0.0.1:8080', '10.0.0.3:8080'])
  deepEqual([addresses(81), addresses('other')], [[], []])
})

test('names and other texts are not endpoints; an address has one spelling', () => {
  const { informers, addresses, endpoints } = stage()
  informers.set('services', web)
  const texts = ['metadata.example', '10.0.0.1\r\nx', '', '10.0.0.01', 'FD00:0::1']
  informers.set('endpointslices', slice('a', texts.map((text) => endpoint(text)))) // prettier-ignore
  deepEqual(addresses(), ['fd00::1:8080'])
  deepEqual(
    [endpoints.has({ address: 'fd00::1', port: 8080 }), endpoints.has({ address: '', port: 8080 })],
    [true, false],
  )
})

test('endpoints that terminate but still serve are the last ones', () => {
  const { informers, addresses } = stage()
  informers.set('services', web)
  const ending = endpoint('10.0.0.9', { ready: false, serving: true, terminating: true })
  informers.set('endpointslices', slice('a', [ending, endpoint('10.0.0.1')]))
  deepEqual(addresses(), ['10.0.0.1:8080'])
  informers.set('endpointslices', slice('a', [ending]))
  deepEqual(addresses(), ['10.0.0.9:8080'])
})

test('changes of the Service and its slices are observed, removals are reported', () => {
  const { informers, addresses, endpoints, changes } = stage()
  informers.set('services', web)
  informers.set('endpointslices', slice('a', [endpoint('10.0.0.1')]))
  informers.set('endpointslices', slice('n', [endpoint('x')], { addressType: 'FQDN' }))
  informers.set('endpointslices', slice('p', [endpoint('10.0.0.2')], { ports: [] }))
  deepEqual(addresses(), ['10.0.0.1:8080'])
  const has = (address: string, port = 8080) => endpoints.has({ address, port })
  deepEqual([has('10.0.0.1'), has('10.0.0.1', 80), has('10.0.0.2'), has('10.0.0.3')], [true, false, false, false])
  informers.remove('endpointslices', 'default/a')
  deepEqual(addresses(), [])
  informers.set('endpointslices', slice('a', [endpoint('10.0.0.1')], { metadata: { name: 'a', namespace: 'default' } }))
  deepEqual(addresses(), [])
  informers.remove('services', 'default/web')
  deepEqual(addresses(), [])
  equal(changes(), 1)
})
