// Flow 17: pods of three nodes reach each other. The nodes are network namespaces: two on one segment, the third behind a
// router, so that it is reached through VXLAN. A fourth machine outside of the cluster sees masqueraded traffic.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Node } from '../../src/api/core/v1/node/node.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { NodePodNetwork, removePodNetwork } from '../../src/machine/pod-network/node-pod-network.ts'
import { mustParseCidr, type Cidr } from '../../src/base/net/cidr.ts'
import { mustParseInterfaceName } from '../../src/base/net/interface-name.ts'
import { mustParseIp } from '../../src/base/net/ip-address.ts'
import type { KernelSettings } from '../../src/machine/kernel-settings/kernel-settings.ts'
import type { Processes } from '../../src/platform/process/processes.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { gatewayOf, hardwareAddressOf, nextHopOf, peerPaths, type Peer } from '../../src/proxy/pod-routes/peer-paths.ts'
import { proxyMetrics } from '../../src/proxy/metrics/proxy-metrics.ts'
import { PodRoutes } from '../../src/proxy/pod-routes/pod-routes.ts'
import { nodeWith, ScriptedSource } from '../../src/proxy/routing/routing.harness.ts'
import { until } from '../until.ts'
import { inNamespaces } from '../containers/namespaces.ts'

const { signal } = new AbortController()
const run = (...command: string[]): string => {
  const [program = '', ...args] = command
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
const ip = (text: string): string => run('ip', ...text.split(' '))

interface Machine {
  readonly name: string
  readonly address: string
  readonly gateway: string
  /** 24 by default. */
  readonly prefixLength?: number
  readonly podRanges: readonly [Cidr, ...Cidr[]]
}

const ranges = (first: string, ...others: readonly string[]): readonly [Cidr, ...Cidr[]] => [
  mustParseCidr(first),
  ...others.map(mustParseCidr),
]

const machines: readonly Machine[] = [
  { name: 'one', address: '192.0.2.1', gateway: '192.0.2.254', podRanges: ranges('10.244.1.0/24', 'fd00:0:0:1::/64') },
  { name: 'two', address: '192.0.2.2', gateway: '192.0.2.254', podRanges: ranges('10.244.2.0/24', 'fd00:0:0:2::/64') },
  {
    name: 'three',
    address: '198.51.100.3',
    gateway: '198.51.100.254',
    podRanges: ranges('10.244.3.0/24', 'fd00:0:0:3::/64'),
  },
]
/** Both are on one segment. The network of the first one includes the other's address, but not vice versa. */
const wide: Machine = {
  name: 'wide',
  address: '192.0.2.4',
  gateway: '192.0.2.254',
  podRanges: ranges('10.244.4.0/24'),
}
const narrow: Machine = {
  name: 'narrow',
  address: '192.0.2.130',
  prefixLength: 25,
  gateway: '192.0.2.254',
  podRanges: ranges('10.244.5.0/24'),
}
const peerOf = ({ name, address, podRanges }: Machine): Peer => ({ name, addresses: [mustParseIp(address)], podRanges })
const podAddress = (range: Cidr): string =>
  nextHopOf(range).replace(/(\.0|::)$/, (end) => (end === '::' ? '::9' : '.9'))

/** Programs run in the namespace of a machine. */
const processesIn = (namespace: string): Pick<Processes, 'run'> => ({
  run: (command, args, options, stop) =>
    nodePlatform.processes.run('ip', ['netns', 'exec', namespace, command, ...args], options, stop),
})

const kernelSettingsIn = (namespace: string): KernelSettings => ({
  set(name, value) {
    run('ip', 'netns', 'exec', namespace, 'sh', '-c', `echo ${value} > /proc/sys/${name}`)
    return Promise.resolve(true)
  },
})

const networkOf = ({ name, address, podRanges }: Machine): NodePodNetwork =>
  new NodePodNetwork(
    {
      bridge: mustParseInterfaceName('coxswain0'),
      ranges: podRanges.map((range) => ({ range, gateway: gatewayOf(range), tunnelAddress: nextHopOf(range) })),
      hardwareAddress: hardwareAddressOf(podRanges),
      nodeAddress: mustParseIp(address),
      serviceRanges: [],
    },
    { processes: processesIn(name), kernelSettings: kernelSettingsIn(name) },
  )

function addRouter(): void {
  ip('netns add router')
  ip('-n router link set lo up')
  for (const [bridge, address] of [
    ['segment-a', '192.0.2.254/24'],
    ['segment-b', '198.51.100.254/24'],
  ] as const) {
    run('ip', '-n', 'router', 'link', 'add', bridge, 'type', 'bridge')
    ip(`-n router addr add ${address} dev ${bridge}`)
    ip(`-n router link set ${bridge} up`)
  }
  run('ip', 'netns', 'exec', 'router', 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
}

function addMachine({ name, address, gateway, prefixLength = 24 }: Omit<Machine, 'podRanges'>): void {
  ip(`netns add ${name}`)
  ip(`-n ${name} link set lo up`)
  run('ip', '-n', name, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', `to-${name}`, 'netns', 'router')
  const segment = gateway.startsWith('192.') ? 'segment-a' : 'segment-b'
  ip(`-n router link set to-${name} master ${segment} up`)
  ip(`-n ${name} addr add ${address}/${prefixLength} dev eth0`)
  ip(`-n ${name} link set eth0 up`)
  ip(`-n ${name} route add default via ${gateway}`)
}

/** A pod is a namespace with a port on the bridge of its node, as the CNI plugin configures it. */
function addPod({ name, podRanges }: Machine): void {
  const pod = `pod-${name}`
  ip(`netns add ${pod}`)
  ip(`-n ${pod} link set lo up`)
  run('ip', '-n', pod, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'veth-pod', 'netns', name)
  ip(`-n ${name} link set veth-pod master coxswain0 up`)
  ip(`-n ${pod} link set eth0 up`)
  for (const range of podRanges) {
    const prefix = range.split('/')[1]
    run(
      'ip',
      '-n',
      pod,
      'addr',
      'add',
      `${podAddress(range)}/${prefix}`,
      'dev',
      'eth0',
      ...(range.includes(':') ? ['nodad'] : []),
    )
    run('ip', '-n', pod, 'route', 'add', 'default', 'via', gatewayOf(range))
  }
}

const listeners: ChildProcess[] = []

/** A server that answers each connection with the address of the client. */
async function listenIn(namespace: string): Promise<void> {
  const program = `require('net').createServer((s) => s.end(s.remoteAddress)).listen(8080, '::', () => console.log('ready'))`
  const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  listeners.push(child)
  await once(child.stdout, 'data')
}

/** Longer than the kernel takes to answer for an unreachable neighbour. */
const timeoutMs = 5_000

/** The address that the server sees as the client's, or the reason why there is no connection. */
function callFrom(namespace: string, address: string): string {
  const program = `const s = require('net').connect({ host: '${address}', port: 8080, timeout: ${timeoutMs} }); s.on('data', (d) => process.stdout.write(d)); s.on('error', (e) => { process.stdout.write(e.code); process.exit(0) }); s.on('timeout', () => { process.stdout.write('timeout'); process.exit(0) })`
  return run('ip', 'netns', 'exec', namespace, process.execPath, '-e', program).replace(/^::ffff:/, '')
}

async function setPaths(machine: Machine, others: readonly Machine[]): Promise<ReadonlyMap<string, string>> {
  const network = networkOf(machine)
  const adjacent = await network.adjacent(
    others.map(({ address }) => mustParseIp(address)),
    signal,
  )
  const paths = peerPaths(others.map(peerOf), (address) => adjacent.has(address))
  deepEqual([...(await network.setPaths(paths, signal))], [])
  return paths.nodes
}

const othersOf = (machine: Machine) => machines.filter((each) => each !== machine)

inNamespaces(import.meta.url, () => {
  before(async () => {
    // `ip netns` keeps its names in a directory that belongs to this mount namespace only.
    run('mount', '-t', 'tmpfs', 'none', '/run')
    addRouter()
    addMachine({ name: 'outside', address: '192.0.2.100', gateway: '192.0.2.254' })
    for (const machine of [...machines, wide, narrow]) {
      addMachine(machine)
      await networkOf(machine).prepare(signal)
      addPod(machine)
      await listenIn(`pod-${machine.name}`)
    }
    await listenIn('outside')
  })
  after(() => {
    for (const child of listeners) child.kill('SIGKILL')
  })

  test('nodes on one segment are reached by routes, others through VXLAN', async () => {
    const kinds = []
    for (const machine of machines) kinds.push(Object.fromEntries(await setPaths(machine, othersOf(machine))))
    // The nodes have no IPv6 addresses, so IPv6 ranges take the tunnel, also on one segment.
    deepEqual(kinds, [
      { two: 'vxlan', three: 'vxlan' },
      { one: 'vxlan', three: 'vxlan' },
      { one: 'vxlan', two: 'vxlan' },
    ])
    match(ip('-n one route show 10.244.2.0/24'), /via 192\.0\.2\.2 dev eth0/)
    match(ip('-n one route show 10.244.3.0/24'), /via 10\.244\.3\.0 dev coxswain-vx/)
    match(ip('-n one -6 route show fd00:0:0:2::/64'), /dev coxswain-vx/)
  })

  for (const from of machines)
    for (const to of machines)
      test(`a pod on ${from.name} reaches a pod on ${to.name} in both families with its own address`, () => {
        for (const [index, range] of to.podRanges.entries())
          equal(callFrom(`pod-${from.name}`, podAddress(range)), podAddress(from.podRanges[index] ?? from.podRanges[0]))
      })

  for (const from of machines)
    test(`the node ${from.name} reaches the pods of all nodes`, () => {
      for (const to of machines) {
        const client = callFrom(from.name, podAddress(to.podRanges[0]))
        equal(/^(10\.244|192\.0\.2|198\.51\.100)\./.test(client), true, client)
      }
    })

  test('traffic of pods to outside has the address of their node', () => {
    deepEqual(
      machines.map(({ name }) => callFrom(`pod-${name}`, '192.0.2.100')),
      machines.map(({ address }) => address),
    )
  })

  test('a partitioned node is not reached, the others are, and all are after the recovery', () => {
    const first = ({ podRanges: [range] }: Machine) => podAddress(range)
    const [one, two, three] = machines as [Machine, Machine, Machine]
    ip('-n router link set to-three down')
    match(callFrom('pod-one', first(three)), /^(timeout|EHOSTUNREACH)$/)
    match(callFrom('pod-three', first(two)), /^(timeout|EHOSTUNREACH|ENETUNREACH)$/)
    equal(callFrom('pod-two', first(one)), first(two))
    ip('-n router link set to-three up')
    equal(callFrom('pod-one', first(three)), first(one))
    equal(callFrom('pod-three', first(two)), first(three))
  })

  test('the paths to a node that left are removed, and those to others stay', async () => {
    const [one, two, three] = machines
    if (one === undefined || two === undefined || three === undefined) throw new Error('there are three machines')
    await setPaths(one, [two])
    equal(ip('-n one route show 10.244.3.0/24'), '')
    equal(run('ip', '-n', 'one', 'neigh', 'show', 'dev', 'coxswain-vx', '10.244.3.0').trim(), '')
    equal(
      run('ip', 'netns', 'exec', 'one', 'bridge', 'fdb', 'show', 'dev', 'coxswain-vx').includes(three.address),
      false,
    )
    equal(callFrom('pod-one', podAddress(two.podRanges[0])), podAddress(one.podRanges[0]))
    await setPaths(one, [two, three])
    equal(callFrom('pod-one', podAddress(three.podRanges[0])), podAddress(one.podRanges[0]))
  })

  test('two nodes, of which only one considers the other adjacent, reach the pods of each other', async () => {
    await kernelSettingsIn('wide').set('net/ipv4/conf/all/rp_filter', '1')
    deepEqual(
      [await setPaths(wide, [narrow]), await setPaths(narrow, [wide])].map((kinds) => [...kinds.values()]),
      [['route'], ['vxlan']],
    )
    const [wideRange] = wide.podRanges
    const [narrowRange] = narrow.podRanges
    equal(callFrom('pod-wide', podAddress(narrowRange)), podAddress(wideRange))
    equal(callFrom('pod-narrow', podAddress(wideRange)), podAddress(narrowRange))
    match(callFrom('wide', podAddress(narrowRange)), /^192\.0\.2\.4$/)
    match(callFrom('narrow', podAddress(wideRange)), /^10\.244\.5\.0$/)
  })

  test('a Node whose address has lines of its own executes nothing, and costs its own path only', async () => {
    const [one, two] = machines as [Machine, Machine, Machine]
    const mark = '/run/executed'
    const nodes = new ScriptedSource<Node>()
    const nodeAt = (name: string, address: string, range: string) =>
      nodes.put({
        ...nodeWith(name),
        spec: { podCIDRs: [range] },
        status: { addresses: [{ type: 'InternalIP', address }] },
      } as unknown as Node)
    nodeAt('a', `192.0.2.2\nnetns exec ${one.name} touch ${mark}`, '10.250.1.0/24')
    nodeAt('b', two.address, '0.0.0.0/0')
    nodeAt('c', '192.0.2.255', '10.250.3.0/24')
    nodeAt('d', two.address, '10.250.4.0/24')
    const events: string[] = []
    await using tasks = new TaskGroup()
    const routes = new PodRoutes({
      nodes,
      network: networkOf(one),
      clock: realClock,
      flow: new FlowRecorder(realClock),
      log: silentLog,
      own: {
        nodeName: one.name,
        podRanges: one.podRanges,
        serviceRanges: [],
        clusterRanges: [],
        interfaceRanges: () => [],
      },
      events: { nodeIgnored: ({ metadata }, reason) => void events.push(`${metadata.name} ${reason}`) },
      metrics: proxyMetrics(new Metrics()),
      publish: () => Promise.resolve(),
    })
    tasks.start('pod routes', (stop) => routes.run(stop))
    await until(() => ip('-n one route show 10.250.4.0/24').includes('via 192.0.2.2'))
    await until(() => events.length >= 2)
    deepEqual(events.slice(0, 2), ['a InvalidNodeAddress', 'b InvalidPodCIDR'])
    equal(existsSync(mark), false)
    match(ip('-n one route show default'), /^default via 192\.0\.2\.254 /)
  })

  test('routes and rules of others are kept, ours are removed', async () => {
    ip('-n two route add 203.0.113.0/24 via 192.0.2.254')
    run('ip', 'netns', 'exec', 'two', 'nft', 'add', 'table', 'inet', 'mine')
    await removePodNetwork(processesIn('two'), signal)
    match(ip('-n two route show 203.0.113.0/24'), /via 192\.0\.2\.254/)
    equal(run('ip', 'netns', 'exec', 'two', 'nft', 'list', 'tables').trim(), 'table inet mine')
    equal(ip('-n two route show proto 117'), '')
  })

  test('a firewall that drops forwarded packets is recognized', async () => {
    const network = networkOf(machines[2] ?? ({} as Machine))
    equal(await network.forwardingBlockedBy(signal), undefined)
    run('ip', 'netns', 'exec', 'three', 'iptables', '-P', 'FORWARD', 'DROP')
    match((await network.forwardingBlockedBy(signal)) ?? '', /^iptables \(iptables-nft\) drops forwarded packets/)
  })
})
