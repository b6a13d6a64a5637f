// Which connections a request to an extension server uses.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { OutboundOptions, OutboundProvider } from '../../platform/http/outbound.ts'
import type { Extension } from '../request/extension.ts'
import type { CacheObserver } from '../watch-cache/object-caches.ts'
import { ExtensionConnections } from './extension-connections.ts'

const { signal } = new AbortController()
const get = { method: 'GET', target: '/', headers: {} }
const answer = () => Promise.resolve({ status: 200, headers: {}, body: (async function* () {})() })

const extension = (tls: Partial<Extension['tls']> = {}, name = 'v1.example.com'): Extension => ({
  name,
  group: 'example.com',
  version: 'v1',
  isAvailable: true,
  service: { namespace: 'ns', name: 'ext', port: 443 },
  tls: { serverName: 'ext.ns.svc', authority: 'ca', ...tls },
  resource: () => {
    throw new Error('not used')
  },
})

/** A Service with a cluster IP and the endpoints, and what was opened and closed. */
function connectionsTo(...addresses: string[]) {
  const opened: OutboundOptions[] = []
  const closed: string[] = []
  const observers: CacheObserver[] = []
  const identity = { certificate: 'front proxy', key: 'key' }
  const state = { addresses, identity, sent: 0, failures: [] as Error[] }
  const send = () => {
    state.sent++
    const failure = state.failures.shift()
    return failure === undefined ? answer() : Promise.reject(failure)
  }
  const outbound: OutboundProvider = {
    connect(options) {
      opened.push(options)
      return { send, close: () => Promise.resolve(void closed.push(options.origin)) }
    },
    async exchange(options) {
      opened.push(options)
      return { kind: 'answer', ...(await answer()) }
    },
  }
  const found = {
    metadata: { name: 'ext', namespace: 'ns' },
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 443, name: 'https' }] },
  } as unknown as ApiObject
  const slices = () => [
    {
      metadata: { name: 'ext-1', namespace: 'ns', labels: { [serviceNameLabel]: 'ext' } },
      endpoints: state.addresses.map((address) => ({ addresses: [address] })),
      ports: [{ name: 'https', port: 8443 }],
    },
  ]
  const caches = {
    get: (kind: Kind) => (kind === (service as Kind) ? found : undefined),
    list: (kind: Kind) => (kind === (endpointSlice as Kind) ? slices() : []),
    observe: (_kind: Kind, observer: CacheObserver) => void observers.push(observer),
  } as unknown as ConstructorParameters<typeof ExtensionConnections>[0]['caches']
  const connections = new ExtensionConnections({ outbound, caches, proxyIdentity: () => state.identity })
  const changed = () => observers.forEach((each) => each.changed(found, found))
  return { connections, opened, closed, state, changed }
}

test('requests share the connections to an endpoint of the Service, also after its status has changed', async () => {
  const { connections, opened, closed } = connectionsTo('10.1.0.7')
  await connections.send(extension(), get, signal)
  await connections.send(extension(), get, signal)
  const tls = { serverName: 'ext.ns.svc', authority: 'ca', certificate: 'front proxy', key: 'key' }
  deepEqual(opened, [{ origin: 'https://10.1.0.7:8443', tls }])
  deepEqual(closed, [])
})

const lost = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
const retries: [string, method: string, failures: Error[], sent: number, fails: boolean][] = [
  ['a read is sent again when its connection was lost', 'GET', [lost], 2, false],
  ['a read is sent again once', 'GET', [lost, lost], 2, true],
  ['a write is not sent again', 'POST', [lost], 1, true],
  ['a read whose connection was refused is not sent again', 'GET', [new Error('refused')], 1, true],
]
for (const [what, method, failures, sent, fails] of retries)
  test(what, async () => {
    const to = connectionsTo('10.1.0.7')
    to.state.failures = [...failures]
    const response = to.connections.send(extension(), { ...get, method }, signal)
    await (fails ? rejects(response) : response)
    equal(to.state.sent, sent)
  })

test('a watch has a connection of its own', async () => {
  const { connections, opened } = connectionsTo('10.1.0.7')
  await connections.send(extension(), get, signal)
  await connections.exchange(extension(), get, signal)
  equal(opened.length, 2)
})

const changes: [string, (to: ReturnType<typeof connectionsTo>) => Extension][] = [
  ['the CA', () => extension({ authority: 'another' })],
  ['the name of the server', () => extension({ serverName: 'another' })],
  ['the verification', () => extension({ insecureSkipVerify: true })],
  [
    'the certificate of the front proxy',
    ({ state }) => {
      state.identity = { certificate: 'renewed', key: 'renewed' }
      return extension()
    },
  ],
  [
    'the endpoint',
    ({ state, changed }) => {
      state.addresses = ['10.1.0.8']
      changed()
      return extension()
    },
  ],
]
for (const [what, change] of changes)
  test(`other connections are used after a change of ${what}`, async () => {
    const to = connectionsTo('10.1.0.7')
    await to.connections.send(extension(), get, signal)
    await to.connections.send(change(to), get, signal)
    equal(to.opened.length, 2)
    deepEqual(to.closed, ['https://10.1.0.7:8443'])
  })

test('an endpoint is resolved once, until the Service or its endpoints change', () => {
  const { connections, state, changed } = connectionsTo('10.1.0.7')
  const first = connections.endpointOf(extension())
  deepEqual(first, { origin: 'https://10.1.0.7:8443', host: '10.1.0.7:8443' })
  equal(connections.endpointOf(extension()), first)
  state.addresses = []
  changed()
  throws(() => connections.endpointOf(extension()), /no endpoints available for service "ext"/)
})

test('beyond the limit of pools the oldest is closed, and all at the end', async () => {
  const { connections, opened, closed } = connectionsTo('10.1.0.7')
  for (let index = 0; index < 257; index++) await connections.send(extension({}, `v${index}`), get, signal)
  deepEqual([opened.length, closed.length], [257, 1])
  await connections.close()
  equal(closed.length, 257)
})
