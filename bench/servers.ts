// A control plane of three servers with three members of etcd on one machine: writes, and the time until clients and controllers continue
// after a server was killed.
//
//   npm run bench -- servers
import { deployment } from '../src/api/apps/v1/deployment.ts'
import { replicaSet } from '../src/api/apps/v1/replica-set.ts'
import { hasReason } from '../src/api/errors/status-error.ts'
import { lease } from '../src/api/coordination/v1/lease.ts'
import { silentLog } from '../src/base/observability/log.ts'
import { context } from '../src/base/observability/context.ts'
import { realClock } from '../src/base/time/clock.ts'
import { readinessProbe } from '../src/client/server-balancer/readiness-probe.ts'
import { ServerBalancer } from '../src/client/server-balancer/server-balancer.ts'
import { connect } from '../src/cluster/client/connect.ts'
import { nodePlatform } from '../src/platform/node/platform.ts'
import { accessOf, type Access } from '../test/access.ts'
import { newMachines, type Machine } from '../test/server/server-process.ts'
import { until } from '../test/until.ts'
import { Connection, requestText } from './api/connection.ts'
import { load, shown } from './api/load.ts'
import type { Bench } from './bench.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'
const path = `/api/v1/namespaces/${namespace}/configmaps`
const warmUps = 1_000
const writes = 4_000
const kills = 3
const betweenWritesMs = 10

const created = (name: string): Buffer =>
  requestText('POST', path, { metadata: { name }, data: { mode: 'production' } })

export const serversBench: Bench = {
  name: 'servers',
  async *run() {
    await using made = await newMachines()
    const { machines } = made
    const [first, ...others] = machines
    await first.start('--init')
    const token = (await first.command('token', 'create', '--server')).trim()
    for (const machine of others) await machine.start('--join', first.url, '--token', token)
    yield* writesOf(first)
    yield* clientsContinue(machines)
    yield* controllersContinue(machines)
  },
}

async function* writesOf({ kubeconfig }: Machine): AsyncGenerator<string> {
  const access = accessOf(kubeconfig)
  await load(access, 64, warmUps, (index) => created(`warm-${index}`))
  for (const connections of [1, 16, 64]) {
    const measured = await load(access, connections, writes, (index) => created(`c${connections}-${index}`))
    yield shown(`create ConfigMaps, three members, ${connections} connections`, measured)
  }
}

/** A client of a node's balancer writes all the time, while the server that it uses is killed. */
async function* clientsContinue(machines: readonly Machine[]): AsyncGenerator<string> {
  const [first] = machines
  if (first === undefined) return
  const access = accessOf(first.kubeconfig)
  const { outbound, sockets } = nodePlatform
  const peers = machines.map(({ address }) => ({ address, port: 6443 }))
  const [fallback = { address: '', port: 0 }] = peers
  const probe = readinessProbe(outbound, () => access.ca)
  await using balancer = new ServerBalancer(
    { host: '127.0.0.1', port: 0, fallback, preferenceOf: (name) => name },
    { sockets, probe, clock: realClock, log: silentLog },
  )
  const { address: host, port } = await balancer.start()
  balancer.list(peers)
  await until(() => Promise.resolve(balancer.servers().every(({ health }) => health === 'ready')))
  const times: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    const [used] = balancer.servers()
    const machine = machines.find(({ address }) => address === used?.peer.address)
    if (machine === undefined) throw new Error('no server is used')
    times.push(await killedWhileWriting(machine, { ...access, host, port }, `k${kill}`))
    await machine.start()
    await until(() => Promise.resolve(balancer.servers().every(({ health }) => health === 'ready')))
  }
  yield `clients continue after the kill of their API server: ${secondsOf(times)}`
}

/** The time from the kill to the first write that succeeded after it. */
async function killedWhileWriting(machine: Machine, access: Access, name: string): Promise<number> {
  const connection = await Connection.open(access)
  const write = async (to: Connection, of: string) => {
    const { status } = await to.send(created(of))
    if (status >= 300) throw new Error(`a write was answered with ${status}`)
  }
  for (let index = 0; index < 50; index++) await write(connection, `${name}-before-${index}`)
  const killedMs = performance.now()
  await machine.end('SIGKILL')
  for (let index = 0; ; index++) {
    const again = await Connection.open(access).catch(() => undefined)
    const isWritten =
      again !== undefined &&
      (await write(again, `${name}-after-${index}`).then(
        () => true,
        () => false,
      ))
    again?.close()
    if (isWritten) return performance.now() - killedMs
    await realClock.sleep(betweenWritesMs, signal)
  }
}

async function* controllersContinue(machines: readonly Machine[]): AsyncGenerator<string> {
  for (const how of ['SIGKILL', 'SIGTERM'] as const) {
    const times: number[] = []
    for (let round = 0; round < kills; round++)
      times.push(await leaderEnded(machines, how, `${how.toLowerCase()}-${round}`))
    const what = how === 'SIGKILL' ? 'the kill' : 'a clean stop'
    yield `controllers continue after ${what} of the server with their lease: ${secondsOf(times)}`
  }
}

/** The time from the end of the leader to the ReplicaSet of a Deployment. */
async function leaderEnded(machines: readonly Machine[], how: 'SIGKILL' | 'SIGTERM', name: string): Promise<number> {
  const leader = await leaderOf(machines)
  const [other] = machines.filter((machine) => machine !== leader)
  if (other === undefined) throw new Error('there is no other server')
  await using connection = await connect(other.kubeconfig)
  const { client } = connection
  const beganMs = performance.now()
  await leader.end(how)
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await until(() =>
    client
      .of(deployment)
      .create({ metadata: { name }, spec }, namespace, ctx)
      .then(
        () => true,
        // A write whose outcome was not known may have been applied.
        (error: unknown) => hasReason(error, 'AlreadyExists'),
      ),
  )
  await until(async () => {
    const { items } = await client.of(replicaSet).list({ namespace, labelSelector: `app=${name}` }, ctx)
    return items.length > 0
  })
  const tookMs = performance.now() - beganMs
  await leader.start()
  return tookMs
}

async function leaderOf(machines: readonly Machine[]): Promise<Machine> {
  const [first] = machines
  if (first === undefined) throw new Error('there is no server')
  await using connection = await connect(first.kubeconfig)
  const held = await connection.client.of(lease).find('kube-controller-manager', 'kube-system', ctx)
  const holder = held?.spec.holderIdentity ?? ''
  const leader = machines.find(({ running }) => running?.logged().includes(holder) === true)
  if (holder === '' || leader === undefined) throw new Error('no server has the lease of the controllers')
  return leader
}

const secondsOf = (times: readonly number[]): string => `${times.map((ms) => (ms / 1000).toFixed(2)).join(', ')} s`
