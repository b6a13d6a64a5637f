// Addresses of a pool on one segment with real packets: three nodes, a client and a server.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { context } from '../../src/base/observability/context.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { serviceRangesOf } from '../../src/cluster/flags/service-ranges.ts'
import { serveCluster } from '../../src/cluster/run/served-cluster.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { newFolder } from '../process.ts'
import { Agent, run, serverPort } from '../proxy/network.harness.ts'
import { until } from '../until.ts'

const ctx = context(new AbortController().signal)
const nodeNames = ['node-0', 'node-1', 'node-2'] as const
/** The last parts of the addresses 192.168.50.x and fd50::x. */
const numbers = { 'node-0': 10, 'node-1': 11, 'node-2': 12, client: 20, server: 30 } as const
type MachineName = keyof typeof numbers
const addresses = '192.168.50.240-192.168.50.249,fd50::f0-fd50::ff'
const v4 = '192.168.50.240'
const v6 = 'fd50::f0'
const waitMs = 2_000

class Segment implements AsyncDisposable {
  readonly agents = new Map<string, Agent>()
  /** By hardware address. */
  readonly #machines = new Map<string, string>()

  static async start(): Promise<Segment> {
    const segment = new Segment()
    const accept = 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0'
    run(
      `${accept}; ip link add lan0 type bridge; ip link set lan0 up; ip addr add 192.168.50.1/24 dev lan0; ip addr add fd50::1/64 dev lan0 nodad`,
    )
    await Promise.all(
      Object.keys(numbers).map(async (name) =>
        segment.agents.set(name, await Agent.start(name, name === 'client' ? [] : [serverPort])),
      ),
    )
    for (const [name, number] of Object.entries(numbers)) {
      const pid = segment.agents.get(name)?.pid
      run(
        `ip link add ${name} type veth peer name eth0 netns ${pid}; ip link set ${name} master lan0 up; bridge link set dev ${name} hairpin on`,
      )
      const forwards = 'sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1'
      segment.inside(
        name as MachineName,
        `${accept}; ${forwards}; ip link set lo up; ip link set eth0 up; ip addr add 192.168.50.${number}/24 dev eth0; ip addr add fd50::${number}/64 dev eth0 nodad`,
      )
      const [link] = JSON.parse(segment.inside(name as MachineName, 'ip -j link show eth0')) as { address: string }[]
      segment.#machines.set(link?.address ?? '', name)
    }
    return segment
  }

  inside(name: MachineName, command: string): string {
    return run(`nsenter -t ${this.agents.get(name)?.pid} -n sh -ec '${command}'`)
  }

  /** The machine whose hardware address the client uses for the address. */
  neighbour(address: string): string | undefined {
    const entries = JSON.parse(this.inside('client', `ip -j neigh show ${address}`)) as { lladdr?: string }[]
    return this.#machines.get(entries[0]?.lladdr ?? '')
  }

  /** The nodes that have the address. */
  holders(address: string): readonly string[] {
    return nodeNames.filter((name) => this.inside(name, 'ip -o addr show').includes(` ${address}/`))
  }

  async reach(address: string, port = 80): Promise<string> {
    return (await this.agents.get('client')?.attempt({ protocol: 'TCP', address, port, waitMs })) ?? ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.agents.values(), (agent) => agent.stop()))
  }
}

class NodeProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(segment: Segment, name: MachineName, kubeconfig: string): Promise<NodeProcess> {
    const program = new URL('node.ts', import.meta.url).pathname
    const pid = String(segment.agents.get(name)?.pid)
    const args = ['-t', pid, '-n', process.execPath, program, kubeconfig, name, addresses]
    const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    return new NodeProcess(child)
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill(signal)
    await once(this.#child, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end('SIGKILL')
  }
}

inNamespaces(import.meta.url, () => {
  test('one node responds for each address, and another one takes over', async (t) => {
    await using segment = await Segment.start()
    const serviceRanges = serviceRangesOf({ 'service-cluster-ip-range': '10.96.0.0/16,fd96::/112' })
    await using served = await serveCluster({ nodes: 3, loadBalancers: { addresses }, serviceRanges }, '192.168.50.1')
    await served.cluster.bindNodes(ctx.signal)
    const client = served.cluster.client('test', adminUser)
    await using cleanUps = new AsyncDisposableStack()
    const folder = await newFolder()
    cleanUps.defer(() => rm(folder, { recursive: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, served.kubeconfig)

    const publish = async (name: string, spec: object, server: MachineName, nodeName?: string) => {
      const ports = [{ port: 80, targetPort: serverPort }]
      const balanced = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports, ...spec }
      await client.of(service).create({ metadata: { name }, spec: balanced } as never, 'default', ctx)
      for (const [addressType, prefix] of [
        ['IPv4', '192.168.50.'],
        ['IPv6', 'fd50::'],
      ]) {
        const slice = {
          metadata: { name: `${name}-${addressType?.toLowerCase()}`, labels: { 'kubernetes.io/service-name': name } },
          addressType,
          ports: [{ protocol: 'TCP', port: serverPort }],
          endpoints: [{ addresses: [`${prefix}${numbers[server]}`], conditions: { ready: true }, nodeName }],
        }
        await client.of(endpointSlice).create(slice as never, 'default', ctx)
      }
    }
    await publish('web', { ipFamilyPolicy: 'RequireDualStack' }, 'server')
    await publish('local', { externalTrafficPolicy: 'Local' }, 'node-1', 'node-1')
    await publish('elsewhere', { loadBalancerClass: 'metallb.io/layer2' }, 'server')

    const started = await Promise.all(
      nodeNames.map(async (name) => [name, await NodeProcess.start(segment, name, kubeconfig)] as const),
    )
    const processes = new Map<string, NodeProcess>(started)
    for (const [, each] of started) cleanUps.use(each)

    await t.test('a client reaches the Service at both addresses', async () => {
      for (const address of [v4, v6]) {
        await until(async () => (await segment.reach(address)).startsWith('server'))
        deepEqual(segment.holders(address), [segment.neighbour(address)])
      }
    })

    await t.test('with the policy Local, the node of the endpoint responds, and sees the client', async () => {
      const { status } = await client.of(service).get('local', 'default', ctx)
      const address = status.loadBalancer.ingress?.[0]?.ip ?? ''
      equal(address, '192.168.50.241')
      await until(async () => (await segment.reach(address)).startsWith('node-1'))
      match(await segment.reach(address), /192\.168\.50\.20/)
      deepEqual(segment.holders(address), ['node-1'])
    })

    await t.test('a Service of another class gets no address', async () => {
      const { status } = await client.of(service).get('elsewhere', 'default', ctx)
      equal(status.loadBalancer.ingress, undefined)
    })

    await t.test('an announcer that stops removes its addresses, and another node takes over', async () => {
      const [first = ''] = segment.holders(v4)
      await processes.get(first)?.end('SIGTERM')
      deepEqual(segment.holders(v4).includes(first), false)
      // The client sends nothing: it is notified.
      await until(() => ![undefined, first].includes(segment.neighbour(v4)))
      match(await segment.reach(v4), /^server/)
      processes.set(first, cleanUps.use(await NodeProcess.start(segment, first as MachineName, kubeconfig)))
    })

    await t.test('when the machine of an address dies, another one takes over, and traffic continues', async () => {
      match(await segment.reach(v6), /^server/)
      await until(() => segment.holders(v6).length === 1)
      const [first = ''] = segment.holders(v6)
      const ofV4 = segment.holders(v4)[0] === first
      run(`ip link set ${first} down`)
      await processes.get(first)?.end('SIGKILL')
      // The client keeps sending: eight seconds after the first packet without an answer it forgets the neighbour, and
      // then no notification helps, only a request.
      await until(async () => (await segment.reach(v6)).startsWith('server'))
      notEqual(segment.neighbour(v6), first)
      if (ofV4) await until(async () => (await segment.reach(v4)).startsWith('server'))
      run(`ip link set ${first} up`)
      // The kernel removes the address.
      await until(() => !segment.holders(v6).includes(first))
      notEqual(segment.holders(v6)[0], first)
      ok(segment.inside(first as MachineName, 'ip addr show eth0').includes('192.168.50.'), 'it keeps its own address')
    })
  })
})
