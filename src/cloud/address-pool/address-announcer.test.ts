// Announcers of three nodes in virtual time: one responds for each address, another one takes over, never two at once.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { namespace, node, service, startCluster, type TestCluster } from '../../cluster/index.ts'
import { SimulatedAnnouncedAddresses } from '../../machine/announced-addresses/simulated-announced-addresses.ts'
import { AddressAnnouncer, announcerNamespace } from './address-announcer.ts'
import { AddressPool } from './address-pool.ts'

const addresses = '192.0.2.201-192.0.2.203,fd00::200-fd00::20f'
const names = ['node-0', 'node-1', 'node-2']

class Announcers implements AsyncDisposable {
  readonly machines = new Map<string, SimulatedAnnouncedAddresses>()
  /** Nodes whose processes can neither reach the API server nor change their machine. */
  readonly frozen = new Set<string>()
  readonly flow: FlowRecorder
  readonly #cluster: TestCluster
  readonly #groups = new Map<string, TaskGroup>()

  constructor(cluster: TestCluster) {
    this.#cluster = cluster
    this.flow = new FlowRecorder(cluster.clock)
    for (const name of names) this.start(name)
  }

  start(nodeName: string): void {
    const { clock } = this.#cluster
    const machine = this.machines.get(nodeName) ?? new SimulatedAnnouncedAddresses(clock)
    this.machines.set(nodeName, machine)
    const reachable = <T>(use: () => Promise<T>): Promise<T> =>
      this.frozen.has(nodeName) ? Promise.reject(new Error('frozen')) : use()
    const client = clientThrough(this.#cluster.client, reachable)
    const tasks = new TaskGroup()
    this.#groups.set(nodeName, tasks)
    const deps = { clock, random: seededRandom(names.indexOf(nodeName)), log: silentLog, flow: this.flow }
    const announcer = new AddressAnnouncer({
      ...deps,
      nodeName,
      client,
      pool: AddressPool.parse(addresses),
      informers: new Informers(this.#cluster.client, deps, tasks),
      machine: { set: (wanted) => reachable(() => machine.set(wanted)) },
    })
    tasks.start('announcer', (signal) => announcer.run(signal))
  }

  async stop(nodeName: string): Promise<void> {
    await this.#groups.get(nodeName)?.[Symbol.asyncDispose]()
  }

  /** The nodes that respond for the address. */
  at(address: string): readonly string[] {
    return names.filter((name) => this.machines.get(name)?.current.includes(address))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.frozen.clear()
    for (const name of names) await this.stop(name)
  }
}

/** A client whose calls can fail. */
function clientThrough(client: Client, through: <T>(use: () => Promise<T>) => Promise<T>): Client {
  const of = (kind: never) => {
    const own = client.of(kind) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    const call =
      (verb: string) =>
      (...args: unknown[]) =>
        through(() => own[verb]?.(...args) ?? Promise.reject(new Error(verb)))
    return { find: call('find'), create: call('create'), update: call('update') }
  }
  return { of } as unknown as Client
}

async function start(): Promise<{ cluster: TestCluster; announcers: Announcers }> {
  const serviceFlags = { 'service-cluster-ip-range': '10.96.0.0/16,fd00:96::/112' }
  const cluster = await startCluster({ nodes: 3, loadBalancers: { addresses }, serviceFlags })
  await cluster.client.of(namespace).create({ metadata: { name: announcerNamespace } })
  return { cluster, announcers: new Announcers(cluster) }
}

const create = ({ client }: TestCluster, name: string, more: object = {}) =>
  client.of(service).create({
    metadata: { name },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }], ...more },
  } as never)

/** Advances the clock and checks that no address has two nodes at any time. */
async function advance({ clock }: TestCluster, announcers: Announcers, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 100) {
    await clock.advance('100ms')
    for (const address of ['192.0.2.201', 'fd00::200']) ok(announcers.at(address).length <= 1, `${passedMs} ms`)
  }
}

test('each address has one node, and addresses are spread', async () => {
  const { cluster, announcers } = await start()
  await using _cluster = cluster
  await using _announcers = announcers
  for (const name of ['first', 'second', 'third']) await create(cluster, name)
  await advance(cluster, announcers, 4_000)
  const holders = ['192.0.2.201', '192.0.2.202', '192.0.2.203'].map((address) => announcers.at(address))
  deepEqual(holders.flat().toSorted(), names)
  await cluster.client.of(service).delete('second')
  await advance(cluster, announcers, 1_000)
  deepEqual(announcers.at('192.0.2.202'), [])
  ok(announcers.flow.events().some(({ what }) => what === 'announce 192.0.2.201'))
})

test('another node takes over at once when the announcer stops, and after the lease when it is cut off', async () => {
  const { cluster, announcers } = await start()
  await using _cluster = cluster
  await using _announcers = announcers
  await create(cluster, 'web', { ipFamilyPolicy: 'RequireDualStack' })
  await advance(cluster, announcers, 4_000)
  for (const address of ['192.0.2.201', 'fd00::200']) {
    const [first = ''] = announcers.at(address)
    await announcers.stop(first)
    deepEqual(announcers.at(address), [], 'an orderly stop removes the address')
    await advance(cluster, announcers, 2_500)
    const [second = '', ...more] = announcers.at(address)
    ok(second !== '' && second !== first && more.length === 0)
    announcers.frozen.add(second)
    await advance(cluster, announcers, 4_000)
    deepEqual(announcers.at(address), [], 'the kernel removes the address of a process that does not refresh it')
    await advance(cluster, announcers, 5_000)
    const [third = ''] = announcers.at(address)
    equal([first, second].includes(third), false)
    announcers.frozen.clear()
    announcers.start(first)
    await advance(cluster, announcers, 8_000)
    deepEqual(announcers.at(address), [third], 'it stays where it is')
  }
})

test('a node that is not ready or cannot set the address leaves it to another one', async () => {
  const { cluster, announcers } = await start()
  await using _cluster = cluster
  await using _announcers = announcers
  await create(cluster, 'web')
  await advance(cluster, announcers, 4_000)
  const [first = ''] = announcers.at('192.0.2.201')
  const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': '' }
  await cluster.client.of(node).patch(first, { metadata: { labels } })
  await advance(cluster, announcers, 3_000)
  const [second = ''] = announcers.at('192.0.2.201')
  ok(second !== '' && second !== first)
  const third = names.find((name) => name !== first && name !== second) ?? ''
  announcers.machines.get(third)?.problems.set('192.0.2.201', 'taken')
  await announcers.stop(second)
  await advance(cluster, announcers, 4_000)
  deepEqual(announcers.at('192.0.2.201'), [])
  announcers.machines.get(third)?.problems.clear()
  await advance(cluster, announcers, 9_000)
  deepEqual(announcers.at('192.0.2.201'), [third])
})
