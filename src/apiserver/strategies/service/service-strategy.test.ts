// Services: the addresses and ports that they allocate, preserve and release, and that no two Services have the same.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, type Harness } from '../../server.harness.ts'
import { openPolicies } from '../../open-policies.ts'

const services = '/api/v1/namespaces/default/services'
const addresses = '/apis/networking.k8s.io/v1/ipaddresses'
const { signal } = new AbortController()

const web = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
})

const keysIn = async ({ store }: Harness, prefix: string): Promise<string[]> =>
  (await store.range({ start: prefix, end: `${prefix}~` }, signal)).items.map(({ key }) => key.slice(prefix.length))

const portsHeld = (server: Harness) => keysIn(server, '/registry/ranges/servicenodeports/')
const addressesHeld = (server: Harness) => keysIn(server, '/registry/ipaddresses/')

test('an address is stored as an IPAddress that names its Service, and is deleted with it', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', services, web('a'))
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = body.spec
  match(clusterIP, /^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/)
  deepEqual([clusterIPs, ipFamilies, ipFamilyPolicy], [[clusterIP], ['IPv4'], 'SingleStack'])
  const held = (await server.call('GET', `${addresses}/${clusterIP}`)).body
  deepEqual(held.spec, { parentRef: { resource: 'services', namespace: 'default', name: 'a' } })
  deepEqual(held.metadata.labels, {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  })
  const gone = await server.call('DELETE', `${services}/a`)
  equal(gone.body.kind, 'Service')
  equal((await server.call('GET', `${addresses}/${clusterIP}`)).status, 404)
})

const refused: [why: string, spec: object, message: string][] = [
  [
    'an address outside the range',
    { clusterIP: '1.2.3.4' },
    'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
  ],
  [
    'the network address',
    { clusterIP: '10.96.0.0' },
    'spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided network does not match the current range',
  ],
  [
    'an address that is in use',
    { clusterIP: '10.96.0.9' },
    'spec.clusterIPs: Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated',
  ],
  [
    'a port outside the range',
    { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
    'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
  ],
  [
    'a port that is in use',
    { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] },
    'spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
  ],
  [
    'two families',
    { ipFamilyPolicy: 'RequireDualStack' },
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
  [
    'another family',
    { ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
]
for (const [why, spec, message] of refused)
  test(`refused: ${why}`, async () => {
    await using server = await startServer()
    const holder = { clusterIP: '10.96.0.9', type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }
    equal((await server.call('POST', services, web('holder', holder))).status, 201)
    const answer = await server.call('POST', services, web('a', spec))
    deepEqual([answer.status, answer.body.message], [422, `Service "a" is invalid: ${message}`])
  })

test('ports with the same number share a node port; a dry run allocates nothing', async () => {
  await using server = await startServer()
  const ports = [
    { name: 'a', port: 53, protocol: 'UDP' },
    { name: 'b', port: 53 },
    { name: 'c', port: 80 },
  ]
  const dry = await server.call('POST', `${services}?dryRun=All`, web('dns', { type: 'NodePort', ports }))
  deepEqual(
    dry.body.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort),
    [32_769, 32_769, 32_770],
  )
  deepEqual([await portsHeld(server), await addressesHeld(server)], [[], []])
  const { body } = await server.call('POST', services, web('dns', { type: 'NodePort', ports }))
  const [udp, tcp, other] = body.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort)
  equal(udp, tcp)
  deepEqual(await portsHeld(server), [udp, other].toSorted().map(String))
})

test('a load balancer with externalTrafficPolicy Local has a health check node port', async () => {
  await using server = await startServer()
  const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
  const { body } = await server.call('POST', services, web('a', balanced))
  ok(body.spec.healthCheckNodePort >= 30_000)
  equal((await portsHeld(server)).length, 2)
  const again = await server.call('PUT', `${services}/a`, { ...web('a', balanced), metadata: { name: 'a' } })
  equal(again.body.spec.healthCheckNodePort, body.spec.healthCheckNodePort)
  await server.call('PATCH', `${services}/a`, { spec: { externalTrafficPolicy: 'Cluster' } }, merge)
  equal((await portsHeld(server)).length, 1)
  const without = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }
  equal((await server.call('POST', services, web('b', without))).body.spec.ports[0].nodePort, undefined)
})

const merge = { 'content-type': 'application/merge-patch+json' }

test('an update retains allocated values that it omits; a change of type releases them', async () => {
  await using server = await startServer()
  const { body: first } = await server.call('POST', services, web('a', { type: 'NodePort' }))
  const { body: second } = await server.call('PUT', `${services}/a`, web('a', { type: 'NodePort' }))
  deepEqual(second.spec, first.spec)
  const { body: third } = await server.call('PATCH', `${services}/a`, { spec: { type: 'ClusterIP' } }, merge)
  deepEqual([third.spec.clusterIP, third.spec.ports[0].nodePort], [first.spec.clusterIP, undefined])
  equal('externalTrafficPolicy' in third.spec, false)
  deepEqual(await portsHeld(server), [])
  const alias = { spec: { type: 'ExternalName', externalName: 'x.y' } }
  const { body: fourth, status } = await server.call('PATCH', `${services}/a`, alias, merge)
  equal(status, 200, fourth.message)
  deepEqual(
    [fourth.spec.clusterIP, fourth.spec.clusterIPs, fourth.spec.ipFamilies, await addressesHeld(server)],
    [undefined, undefined, undefined, []],
  )
  const { body: fifth } = await server.call('PATCH', `${services}/a`, { spec: { type: 'NodePort' } }, merge)
  deepEqual([fifth.spec.clusterIPs, fifth.spec.externalName], [[fifth.spec.clusterIP], 'x.y'])
  const moved = await server.call('PATCH', `${services}/a`, { spec: { clusterIP: '10.96.0.77' } }, merge)
  equal(
    moved.body.message,
    'Service "a" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.0.77"]: may not change once set',
  )
})

test('headless Services, with and without a selector', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', services, web('a', { clusterIP: 'None' }))
  deepEqual([body.spec.clusterIP, body.spec.clusterIPs, body.spec.ipFamilies], ['None', ['None'], ['IPv4']])
  const { body: bare } = await server.call('POST', services, {
    metadata: { name: 'b' },
    spec: { clusterIP: 'None', ports: [{ port: 80 }] },
  })
  deepEqual([bare.spec.ipFamilies, bare.spec.ipFamilyPolicy], [['IPv4', 'IPv6'], 'RequireDualStack'])
  deepEqual(await addressesHeld(server), [])
})

const smallRange = (name: string, cidr: string) => ({ metadata: { name }, spec: { cidrs: [cidr] } })

async function withRange(server: Harness, name: string, cidr: string): Promise<void> {
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs'
  await server.call('POST', ranges, smallRange(name, cidr))
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', reason: '', message: '' }
  await server.call('PATCH', `${ranges}/${name}/status`, { status: { conditions: [ready] } }, merge)
}

test('concurrent writers on two servers allocate each of a few addresses exactly once', async () => {
  await using server = await startServer()
  await using other = await startServer(openPolicies, { store: server.store, clock: server.clock })
  await withRange(server, 'small', '10.7.0.0/27')
  await server.clock.settle()
  const create = (index: number) =>
    (index % 2 === 0 ? server : other).call('POST', services, web(`s${index}`, { type: 'NodePort' }))
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => create(index)))
  const made = answers.filter(({ status }) => status === 201).map(({ body }) => body)
  equal(made.length, 30, answers.find(({ status }) => status !== 201)?.body.message)
  equal(new Set(made.map(({ spec }) => spec.clusterIP)).size, 30)
  equal(new Set(made.map(({ spec }) => spec.ports[0].nodePort)).size, 30)
  match(answers.find(({ status }) => status !== 201)?.body.message, /failed to allocate a serviceIP: range is full$/)
  await withRange(server, 'more', '10.8.0.0/24')
  await server.clock.settle()
  equal((await server.call('POST', services, web('late'))).status, 201)
  const same = { clusterIP: '10.8.0.9', type: 'NodePort', ports: [{ port: 80, nodePort: 31_000 }] }
  const rivals = await Promise.all(
    [server, other].map((one, index) => one.call('POST', services, web(`r${index}`, same))),
  )
  deepEqual(rivals.map(({ status }) => status).toSorted(), [201, 422])
  equal((await server.call('DELETE', services)).status, 200)
  deepEqual([await portsHeld(server), await addressesHeld(server)], [[], []])
})

const manyPorts = (count: number, first?: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    port: index + 1,
    ...(first === undefined ? {} : { nodePort: first + index }),
  }))

test('a Service has more node ports than a transaction has operations, and releases them', async () => {
  await using server = await startServer()
  const ports = manyPorts(2_700)
  const { status, body } = await server.call('POST', services, web('many', { type: 'NodePort', ports }))
  equal(status, 201, body.message)
  const allocated = body.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort)
  equal(new Set(allocated).size, 2_700)
  deepEqual(await portsHeld(server), allocated.toSorted().map(String))
  const fewer = { ...body, spec: { ...body.spec, ports: body.spec.ports.slice(0, 2) } }
  equal((await server.call('PUT', `${services}/many`, fewer)).status, 200)
  deepEqual(await portsHeld(server), allocated.slice(0, 2).toSorted().map(String))
  equal((await server.call('DELETE', `${services}/many`)).status, 200)
  deepEqual([await portsHeld(server), await addressesHeld(server)], [[], []])
})

test('of two Services that want the same hundreds of node ports, one gets them, and the other none', async () => {
  await using server = await startServer()
  await using other = await startServer(openPolicies, { store: server.store, clock: server.clock })
  const rivals = await Promise.all([
    server.call('POST', services, web('a', { type: 'NodePort', ports: manyPorts(400, 30_000) })),
    other.call('POST', services, web('b', { type: 'NodePort', ports: manyPorts(400, 30_399) })),
  ])
  deepEqual(rivals.map(({ status }) => status).toSorted(), [201, 422])
  equal((await portsHeld(server)).length, 400)
})

test('a repair recreates lost allocations and removes those without an owner', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', services, web('a', { type: 'NodePort' }))
  const [port] = await portsHeld(server)
  await server.call('DELETE', `${addresses}/${body.spec.clusterIP}`)
  const lost = { kind: 'delete', key: `/registry/ranges/servicenodeports/${port}` } as const
  const value = new TextEncoder().encode('{"holder":"default/none"}')
  const stray = { kind: 'put', key: '/registry/ranges/servicenodeports/30500', value } as const
  await server.store.commit({ conditions: [], operations: [lost, stray] }, signal)
  await server.server.registry.repair(signal)
  deepEqual([await portsHeld(server), await addressesHeld(server)], [[port], [body.spec.clusterIP]])
})
