// The library and the wiring: start, virtual time, parallel clusters, certificates, locks.
import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../base/clock.ts'
import { silentLog } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { parseKubeconfig } from '../pki/kubeconfig.ts'
import { Component } from './component.ts'
import { fetchExplanation } from './decisions.ts'
import { fetchFlowEvents } from './flow-events.ts'
import { context, deployment, namespace, node, pod, startCluster } from './index.ts'
import { DirectoryInUse, lockDirectory } from './lock.ts'
import { clusterCertificates } from './pki.ts'
import { up } from './up.ts'

const ctx = context(new AbortController().signal)
const folder = () => mkdtemp(join(tmpdir(), 'coxswain-cluster-'))

test('a cluster starts with its namespaces and nodes', async () => {
  await using cluster = await startCluster({ nodes: 3 })
  const names = async (kind: typeof node | typeof namespace) =>
    (await cluster.client.of(kind as typeof node).list({}, ctx)).items.map(({ metadata }) => metadata.name)
  deepEqual(await names(namespace), ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  deepEqual(await names(node), ['node-0', 'node-1', 'node-2'])
  deepEqual(cluster.components, [
    'apiserver',
    'controllers',
    'scheduler',
    'kubelet/node-0',
    'kubelet/node-1',
    'kubelet/node-2',
  ])
  throws(() => cluster.start('none'), /there is no component "none"; there are apiserver, /)
})

test('clusters in one process do not know of one another', async () => {
  const labels = { app: 'web' }
  const replicas = [1, 2, 3]
  const counts = await Promise.all(
    replicas.map(async (count) => {
      await using cluster = await startCluster({ seed: count })
      const spec = {
        replicas: count,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      }
      await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
      await cluster.clock.advance('5s')
      return (await cluster.client.of(pod).list({}, ctx)).items.filter(({ status }) => status.phase === 'Running')
        .length
    }),
  )
  deepEqual(counts, replicas)
})

test('an hour of an idle cluster leaves no timer that has run away and no error', async () => {
  const warnings: string[] = []
  const log = {
    ...silentLog,
    warn: (message: string) => warnings.push(message),
    error: (message: string) => warnings.push(message),
  }
  await using cluster = await startCluster({ nodes: 2, log: { ...log, with: () => log } })
  await cluster.clock.advance('1h')
  deepEqual(warnings, [])
  ok(cluster.clock.pendingTimers < 100, `${cluster.clock.pendingTimers} timers`)
})

test('a component that fails is told and starts again by itself; one that was killed does not', async () => {
  const told: string[] = []
  const log = { ...silentLog, error: (_: string, fields?: object) => told.push(JSON.stringify(fields)) }
  const clock = new VirtualClock()
  let starts = 0
  const task = () => (++starts === 1 ? Promise.reject(new Error('oops')) : Promise.resolve())
  const component = new Component('shaky', { clock, log }, (tasks) => tasks.start('task', task))
  component.start()
  component.start()
  await clock.settle()
  deepEqual([starts, component.isRunning, told], [1, false, ['{"component":"shaky","task":"task","error":"oops"}']])
  await clock.advance('2s')
  deepEqual([starts, component.isRunning], [2, true])
  await component.kill()
  await clock.advance('1m')
  deepEqual([starts, component.isRunning], [2, false])
})

test('the authority is made once, kept private, and never half', async () => {
  const path = await folder()
  const make = () => clusterCertificates(path, nodePlatform, realClock, systemRandom)
  const first = await make()
  equal((await make()).authority, first.authority)
  equal((await stat(join(path, 'ca.key'))).mode & 0o777, 0o600)
  await rm(join(path, 'ca.key'))
  await rejects(make(), /holds only one of ca\.crt and ca\.key/)
  await rm(path, { recursive: true })
})

test('a data directory is locked by one process; the lock of a dead one does not count', async () => {
  const path = await folder()
  {
    await using _lock = await lockDirectory(path)
    await rejects(lockDirectory(path), DirectoryInUse)
    match(await readFile(join(path, 'lock'), 'utf8'), /^\d+$/)
  }
  await writeFile(join(path, 'lock'), '999999999')
  await using _again = await lockDirectory(path)
  await rm(path, { recursive: true })
})

test('up serves, writes a kubeconfig that works, refuses a second one, and cleans up', async () => {
  const path = await folder()
  const options = {
    dataFolder: join(path, 'data'),
    kubeconfigPath: join(path, 'kubeconfig'),
    host: '127.0.0.1',
    port: 0,
    nodes: 1,
    log: silentLog,
    store: { kind: 'memory' },
  } as const
  {
    await using running = await up(options)
    const kubeconfig = await readFile(options.kubeconfigPath, 'utf8')
    equal(parseKubeconfig(kubeconfig).server, running.url)
    const events = await fetchFlowEvents(kubeconfig, ctx.signal)
    ok(events.some(({ what }) => what === 'create namespaces'))
    equal(await fetchExplanation(kubeconfig, 'default/nobody', ctx.signal), undefined)
    await rejects(up(options), /is in use by process \d+/)
  }
  await rejects(fetchFlowEvents(await readFile(options.kubeconfigPath, 'utf8'), ctx.signal))
  await using _again = await up(options)
  await rm(path, { recursive: true })
})
