import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../base/async/task-group.ts'
import { silentLog } from '../base/observability/log.ts'
import { seededRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { sliceMs } from '../base/work/work-slice.ts'
import type { Client } from '../client/client.ts'
import { startProxyEvents } from './proxy-events.ts'
import { commandText } from '../base/net/command-text.ts'
import { mustParseIp } from '../base/net/ip-address.ts'
import { SimulatedNftables } from '../machine/nftables/simulated-nftables.ts'
import { presenceCommands, probeCommands, trialEnd } from './nftables/table-layout.ts'
import { endpointAt, nodeWith, serviceWith, sliceWith } from './routing/routing.harness.ts'
import { intact, simulatedProxy } from './service-proxy.harness.ts'
import { removeServiceRules } from './service-proxy.ts'

const isFull = (commands: readonly string[] | undefined) => commands?.[1] === 'delete table inet coxswain-proxy'

test('the first transaction has all rules; changes of one turn are one transaction', async () => {
  const { services, slices, clock, nftables, tasks, proxy } = simulatedProxy()
  await using _tasks = tasks
  services.put(serviceWith())
  await clock.settle()
  await proxy.synced
  equal(nftables.transactions.length, 1)
  ok(isFull(nftables.transactions[0]))
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  slices.put(sliceWith([endpointAt('10.244.0.2'), endpointAt('10.244.0.3')]))
  await clock.settle()
  equal(nftables.transactions.length, 2)
  match(nftables.transactions[1]?.join('\n') ?? '', /pick-2-of4/)
  slices.put(sliceWith([endpointAt('10.244.0.3'), endpointAt('10.244.0.2')]))
  await clock.settle()
  equal(nftables.transactions.length, 2, 'the order of endpoints does not matter')
})

test('clients with affinity are added to a table that replaces another one', async () => {
  const { services, slices, clock, nftables, tasks, proxy } = simulatedProxy()
  await using _tasks = tasks
  services.put(
    serviceWith({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }),
  )
  slices.put(sliceWith([endpointAt('10.244.0.2'), endpointAt('10.244.0.3')]))
  const set = (address: string) => `clients-default/web/http/tcp/IPv4/60s/${address}-8080`
  nftables.learned.set(set('10.244.0.3'), [commandText`192.0.2.1 expires 20s`, commandText`192.0.2.2 expires 59s`])
  nftables.learned.set(set('10.244.0.9'), [commandText`192.0.2.3 expires 20s`])
  await clock.settle()
  await proxy.synced
  const all = nftables.transactions.find(isFull) ?? []
  deepEqual(
    all.filter((command) => command.includes('192.0.2.')),
    [`add element inet coxswain-proxy ${set('10.244.0.3')} { 192.0.2.1 expires 20s, 192.0.2.2 expires 59s }`],
  )
  ok(all.findIndex((command) => command.startsWith(`add set inet coxswain-proxy ${set('10.244.0.3')}`)) > 0)
})

test('without a table there are no known clients', async () => {
  const { services, slices, clock, nftables, tasks } = simulatedProxy()
  await using _tasks = tasks
  services.put(
    serviceWith({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }),
  )
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  nftables.respond = (commands) =>
    commands === presenceCommands ? { kind: 'failed', messages: ['No such file or directory'] } : { kind: 'applied' }
  nftables.learned.set('clients-default/web/http/tcp/IPv4/60s/10.244.0.2-8080', [commandText`192.0.2.1 expires 20s`])
  await clock.settle()
  deepEqual(
    nftables.transactions.filter(isFull).map((commands) => commands.some((command) => command.includes('192.0.2.1'))),
    [false],
  )
})

test('after a failure all rules are applied, with a backoff', async () => {
  const { services, clock, nftables, tasks, registry } = simulatedProxy()
  await using _tasks = tasks
  await clock.settle()
  const full = () => nftables.transactions.filter(isFull).length
  let failures = 3
  nftables.respond = (commands) =>
    commands === probeCommands
      ? intact
      : commands === presenceCommands
        ? { kind: 'applied' }
        : commands.at(-1) === trialEnd || failures-- > 0
          ? { kind: 'failed', messages: ['busy'] }
          : { kind: 'applied' }
  services.put(serviceWith())
  await clock.settle()
  equal(full(), 1)
  await clock.advance(100 + 200)
  equal(full(), 1)
  await clock.advance(400)
  equal(full(), 2)
  match(registry.text(), /nftables_sync_failures_total 3\n/)
})

test('a table that another program removed is restored within a second, changed rules within five', async () => {
  const { clock, nftables, tasks } = simulatedProxy()
  await using _tasks = tasks
  await clock.settle()
  const full = () => nftables.transactions.filter(isFull).length
  let state: 'complete' | 'incomplete' | 'lost' = 'complete'
  const failed = { kind: 'failed', messages: ['No such file or directory'] } as const
  nftables.respond = (commands) => {
    if (commands === presenceCommands) return state === 'lost' ? failed : { kind: 'applied' }
    if (commands === probeCommands) return state === 'complete' ? intact : failed
    state = 'complete'
    return { kind: 'applied' }
  }
  state = 'lost'
  await clock.advance(1_000)
  equal(full(), 2)
  state = 'incomplete'
  await clock.advance(5_000)
  equal(full(), 3)
  await clock.advance(20_000)
  equal(full(), 3)
})

test('node ports are at the internal addresses of the Node', async () => {
  const { services, nodes, clock, nftables, tasks } = simulatedProxy()
  await using _tasks = tasks
  services.put(serviceWith({ type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] }))
  await clock.settle()
  const addresses = [
    { type: 'InternalIP', address: '192.168.0.1' },
    { type: 'Hostname', address: 'node-a' },
  ]
  const object = nodeWith('node-a')
  nodes.put({ ...object, status: { ...object.status, addresses } })
  await clock.settle()
  ok(isFull(nftables.transactions[1]))
  match(nftables.transactions[1]?.join('\n') ?? '', /refused4 { 10.96.0.20 . tcp . 80, 192.168.0.1 . tcp . 30080 }/)
})

test('node ports follow the addresses that the machine has', async () => {
  let addresses = ['192.168.0.1']
  const { services, clock, nftables, tasks } = simulatedProxy({ nodeAddresses: () => addresses })
  await using _tasks = tasks
  services.put(serviceWith({ type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] }))
  await clock.settle()
  match(nftables.transactions[0]?.join('\n') ?? '', /192.168.0.1 . tcp . 30080/)
  addresses = ['192.168.0.1', '192.168.7.1']
  await clock.advance(1_000)
  const whole = nftables.transactions.filter(isFull).at(-1)
  match(whole?.join('\n') ?? '', /192.168.0.1 . tcp . 30080, 192.168.7.1 . tcp . 30080/)
})

test('unused addresses of Services are dropped', async () => {
  const { cidrs, clock, nftables, tasks } = simulatedProxy()
  await using _tasks = tasks
  await clock.settle()
  cidrs.put({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: nodeWith('kubernetes').metadata,
    spec: { cidrs: ['10.96.0.0/12', 'fd96::/112'] },
    status: {},
  })
  await clock.settle()
  const rules = nftables.transactions[1]?.join('\n') ?? ''
  match(rules, /check4 ip daddr { 10.96.0.0\/12 } drop/)
  match(rules, /check6 ip6 daddr { fd96::\/112 } drop/)
})

test('a changed endpoint is a flow event with its cause, and its delay is measured', async () => {
  const { services, slices, clock, flow, tasks, registry } = simulatedProxy()
  await using _tasks = tasks
  services.put(serviceWith())
  await clock.settle()
  await clock.advance(2_000)
  const trigger = new Date(clock.nowMs() - 1_000).toISOString()
  const slice = sliceWith([endpointAt('10.244.0.2')])
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': trigger }
  slices.put({ ...slice, metadata: { ...slice.metadata, annotations } })
  await clock.settle()
  const [event] = [...flow.events()].slice(-1)
  deepEqual(
    [event?.arrow, event?.from, event?.to, event?.what, event?.object, event?.outcome, event?.cause.revisions],
    [
      'call',
      'proxy/node-a',
      'Network',
      'apply rules',
      { resource: 'services', namespace: 'default', name: 'web' },
      'ok',
      [1],
    ],
  )
  match(registry.text(), /kubeproxy_network_programming_duration_seconds_sum 1\n/)
  match(registry.text(), /kubeproxy_sync_partial_proxy_rules_duration_seconds_count 1\n/)
})

test('stale UDP flows are removed after the rules are applied', async () => {
  const { services, slices, clock, conntrack, tasks } = simulatedProxy()
  await using _tasks = tasks
  services.put(serviceWith({ ports: [{ name: 'dns', protocol: 'UDP', port: 53 }] }))
  const slice = (...addresses: string[]) =>
    sliceWith(
      addresses.map((address) => endpointAt(address)),
      { ports: [{ name: 'dns', protocol: 'UDP', port: 53 }] },
    )
  slices.put(slice('10.244.0.2', '10.244.0.3'))
  await clock.settle()
  conntrack.removed.length = 0
  slices.put(slice('10.244.0.3'))
  await clock.settle()
  deepEqual(conntrack.removed, [
    { family: 'IPv4', address: '10.96.0.20', port: 53, endpoint: { address: '10.244.0.2', port: 53 } },
  ])
})

test('what follows from a change happens after a failure as well, when its rules are applied', async () => {
  const { services, slices, clock, conntrack, nftables, tasks } = simulatedProxy()
  await using _tasks = tasks
  services.put(serviceWith({ ports: [{ name: 'dns', protocol: 'UDP', port: 53 }] }))
  const ports = [{ name: 'dns', protocol: 'UDP', port: 53 }]
  slices.put(sliceWith([endpointAt('10.244.0.2')], { ports }))
  await clock.settle()
  conntrack.removed.length = 0
  const { respond } = nftables
  nftables.respond = () => ({ kind: 'failed', messages: ['busy'] })
  slices.put(sliceWith([endpointAt('10.244.0.3')], { ports }))
  await clock.settle()
  slices.put(sliceWith([endpointAt('10.244.0.4')], { ports }))
  conntrack.flows = ['10.244.0.2', '10.244.0.4'].map((address) => ({
    family: 'IPv4',
    address: mustParseIp('10.96.0.20'),
    port: 53,
    endpoint: { address: mustParseIp(address), port: 53 },
  }))
  await clock.advance(100)
  equal(conntrack.removed.length, 0)
  nftables.respond = respond
  await clock.advance(1_000)
  deepEqual(
    conntrack.removed.map(({ endpoint }) => endpoint.address),
    ['10.244.0.2'],
  )
})

test('a proxy that starts removes UDP flows to endpoints that disappeared before', async () => {
  const { services, slices, clock, conntrack, tasks } = simulatedProxy()
  await using _tasks = tasks
  const ports = [{ name: 'dns', protocol: 'UDP', port: 53 }]
  const flows = ['10.244.0.2', '10.244.0.3'].map((address) => ({
    ...({ family: 'IPv4', address: mustParseIp('10.96.0.20'), port: 53 } as const),
    endpoint: { address: mustParseIp(address), port: 53 },
  }))
  conntrack.flows = flows
  services.put(serviceWith({ ports }))
  slices.put(sliceWith([endpointAt('10.244.0.3')], { ports }))
  await clock.settle()
  deepEqual(conntrack.removed, flows.slice(0, 1))
})

test('UDP flows that cannot be listed are reported, and the rules are applied', async () => {
  const conntrack = { udpFlows: () => Promise.reject(new Error('no conntrack')), remove: () => Promise.resolve() }
  const { services, clock, proxy, tasks } = simulatedProxy({ conntrack })
  await using _tasks = tasks
  services.put(serviceWith({ ports: [{ name: 'dns', protocol: 'UDP', port: 53 }] }))
  await clock.settle()
  await proxy.synced
})

test('a health check port is open as long as the Service has one', async () => {
  const { services, slices, clock, listening, tasks } = simulatedProxy()
  await using _tasks = tasks
  const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 }
  services.put(serviceWith(balanced))
  await clock.settle()
  const ask = async () => {
    const response = await listening.get(31000)?.handle({} as never)
    return [response?.status, JSON.parse(String(response?.body)), response?.headers['x-load-balancing-endpoint-weight']]
  }
  const body = (localEndpoints: number) => ({
    service: { namespace: 'default', name: 'web' },
    localEndpoints,
    serviceProxyHealthy: true,
  })
  deepEqual(await ask(), [503, body(0), '0'])
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  await clock.settle()
  deepEqual(await ask(), [200, body(1), '1'])
  services.put(serviceWith({ ...balanced, healthCheckNodePort: 31001 }))
  await clock.settle()
  deepEqual([...listening.keys()], [31001])
  services.remove(serviceWith())
  await clock.settle()
  deepEqual([...listening.keys()], [])
})

test('node ports at 127.0.0.1: replies are routed, and pods cannot send to it', async () => {
  const { clock, kernelSettings, nftables, tasks } = simulatedProxy({
    nodeAddresses: () => ['127.0.0.1'],
    loopbackInterface: 'cni0',
  })
  await using _tasks = tasks
  await clock.settle()
  equal(kernelSettings.values.get('net/ipv4/conf/cni0/route_localnet'), '1')
  match(nftables.transactions[0]?.join('\n') ?? '', /loopback iifname "cni0" ip daddr 127.0.0.0\/8 drop/)
})

test('the start and a health check port that is in use are events', async () => {
  const listeners = { listen: () => Promise.reject(new Error('address already in use')) }
  const { services, slices, nodes, clock, recorded, tasks } = simulatedProxy({ listeners })
  await using _tasks = tasks
  nodes.put(nodeWith('node-a'))
  const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 }
  services.put(serviceWith(balanced))
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  await clock.settle()
  deepEqual(recorded, [
    'Starting node-a: ',
    'FailedToStartServiceHealthcheck web: node node-a failed to start healthcheck "default/web" on port 31000: address already in use',
  ])
})

test('the rules remain when the proxy stops, and are removed on request', async () => {
  const { clock, nftables, tasks } = simulatedProxy()
  await clock.settle()
  await tasks[Symbol.asyncDispose]()
  equal(nftables.transactions.length, 1)
  await removeServiceRules(nftables)
  deepEqual(nftables.transactions[1], ['add table inet coxswain-proxy', 'delete table inet coxswain-proxy'])
  const failing = new SimulatedNftables()
  failing.respond = () => ({ kind: 'failed', messages: ['not permitted'] })
  await rejects(removeServiceRules(failing), /cannot remove the rules of Services: not permitted/)
})

/** A kernel that rejects what contains the address, also in trials. */
const rejecting = (address: string): SimulatedNftables['respond'] => {
  const exists = 'Could not process rule: File exists'
  return (commands) => {
    if (commands === probeCommands) return intact
    if (commands === presenceCommands) return { kind: 'applied' }
    const bad = commands.some((command) => command.includes(address)) ? [`${address} is rejected`] : []
    if (commands.at(-1) === trialEnd) return { kind: 'failed', messages: [...bad, exists] }
    return bad.length === 0 ? { kind: 'applied' } : { kind: 'failed', messages: bad }
  }
}

test('a Service that the kernel rejects is left out, reported, and tried again after a minute', async () => {
  const { services, slices, clock, nftables, recorded, registry, tasks } = simulatedProxy()
  await using _tasks = tasks
  await clock.settle()
  nftables.respond = rejecting('10.96.0.66')
  const other = { clusterIP: '10.96.0.66', clusterIPs: ['10.96.0.66'] }
  services.put(serviceWith())
  services.put(serviceWith(other, { name: 'bad', uid: 'bad' }))
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  await clock.advance(5_000)
  const table = () => nftables.transactions.flat().join('\n')
  match(table(), /10\.96\.0\.20/)
  ok(!table().includes('10.96.0.66'))
  deepEqual(
    recorded.filter((event) => event.startsWith('ServiceNotRouted')),
    [
      'ServiceNotRouted bad: node node-a does not route all traffic of the Service: the kernel rejects its rules: 10.96.0.66 is rejected',
    ],
  )
  match(registry.text(), /coxswain_proxy_rejected_services_total 1\n/)
  nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  services.put(serviceWith({ ...other, type: 'ClusterIP' }, { name: 'bad', uid: 'bad', labels: { changed: 'yes' } }))
  await clock.advance(70_000)
  ok(nftables.transactions.some((commands) => commands.some((command) => command.includes('10.96.0.66'))))
})

test('Services that are not decided within the trials are tried again, and those that the kernel accepts are routed', async () => {
  const { services, slices, clock, nftables, registry, tasks } = simulatedProxy()
  await using _tasks = tasks
  await clock.settle()
  nftables.respond = rejecting('10.97.0.')
  const count = 100
  for (let index = 0; index < count; index++) {
    const clusterIP = `10.${index % 10 === 0 ? 98 : 97}.0.${index + 1}`
    services.put(serviceWith({ clusterIP, clusterIPs: [clusterIP] }, { name: `s${index}`, uid: `s${index}` }))
  }
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  await clock.advance(5 * 60_000)
  const commands = nftables.transactions.flat().join('\n')
  for (let index = 0; index < count; index += 10) ok(commands.includes(`10.98.0.${index + 1}`), `s${index}`)
  ok(!commands.includes('10.97.0.'))
  match(registry.text(), /coxswain_proxy_rejected_services_total 90\n/)
})

test('a Service whose external IP belongs to another one is reported once, until it has an address of its own', async () => {
  const { services, slices, clock, recorded, tasks } = simulatedProxy()
  await using _tasks = tasks
  services.put(serviceWith())
  const own = { clusterIP: '10.96.0.30', clusterIPs: ['10.96.0.30'] }
  const other = (externalIP: string) =>
    services.put(serviceWith({ ...own, externalIPs: [externalIP] }, { name: 'other', uid: 'other' }))
  other('10.96.0.20')
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  await clock.settle()
  const reports = () => recorded.filter((event) => event.startsWith('ServiceNotRouted other')).length
  equal(reports(), 1)
  slices.put(sliceWith([endpointAt('10.244.0.3')]))
  await clock.settle()
  equal(reports(), 1)
  other('192.0.2.9')
  await clock.settle()
  other('10.96.0.20')
  await clock.settle()
  equal(reports(), 2)
})

test('the events of the proxy name the object and the reason', async () => {
  const { tasks } = simulatedProxy()
  await using _tasks = tasks
  const written: string[] = []
  const client = {
    of: () => ({ create: (event: object) => Promise.resolve(void written.push(JSON.stringify(event))) }),
  }
  await using own = new TaskGroup()
  const clock = new VirtualClock()
  const events = startProxyEvents(
    { client: client as unknown as Client, nodeName: 'node-a', clock, random: seededRandom(1), log: silentLog },
    own,
  )
  events.nodeIgnored(nodeWith('node-b'), 'InvalidNodeAddress', 'its address is no address')
  events.hostPortIgnored({ ...nodeWith('p'), kind: 'Pod' } as never, 'InvalidHostIP', 'its host IP is no address')
  await clock.advance(1_000)
  deepEqual(
    written.map((event) => (JSON.parse(event) as { reason: string }).reason),
    ['InvalidNodeAddress', 'InvalidHostIP'],
  )
})

test('what changes while a transaction is computed is not lost', async () => {
  const { services, slices, nodes, clock, nftables, tasks } = simulatedProxy()
  await using _tasks = tasks
  const addressed = (address: string) => {
    const object = nodeWith('node-a')
    return { ...object, status: { ...object.status, addresses: [{ type: 'InternalIP', address }] } }
  }
  services.put(serviceWith({ type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] }))
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  nodes.put(addressed('192.168.0.1'))
  await clock.settle()
  // From here on a slice is used up whenever that is asked, and something changes at every seventh time.
  const changes = [
    () => slices.put(sliceWith([endpointAt('10.244.0.4')])),
    () => nodes.put(addressed('192.168.0.7')),
    () => services.put(serviceWith({ clusterIP: '10.96.0.21', clusterIPs: ['10.96.0.21'] }, { name: 'other' })),
    () => slices.put(sliceWith([endpointAt('10.244.0.5')])),
  ]
  let times = 0
  clock.monotonicMs = () => {
    if (++times % 7 === 0) changes.shift()?.()
    return times * sliceMs
  }
  slices.put(sliceWith([endpointAt('10.244.0.3')]))
  await clock.settle()
  equal(changes.length, 0)
  const commands = nftables.transactions.slice(nftables.transactions.findLastIndex(isFull)).flat()
  const last = (text: RegExp) => commands.findLast((command) => text.test(command)) ?? ''
  match(commands.join('\n'), /refused4 [^}]*10\.96\.0\.21/)
  match(commands.join('\n'), /192\.168\.0\.7 \. tcp \. 30080 \. 0 : /)
  match(
    last(/endpoints4 .* 10\.96\.0\.20 \. tcp \. 80 \. 0/),
    /10\.96\.0\.20 \. tcp \. 80 \. 0 : 10\.244\.0\.5 \. 8080/,
  )
})
