// The official JavaScript client: its calls, its watch and its informers, over ten thousand changes and over servers
// that are killed in between and restarted on the same port.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { test } from 'node:test'
import {
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  V1ConfigMap,
} from '@kubernetes/client-node'
import { realClock } from '../../src/base/time/clock.ts'
import { context } from '../../src/base/observability/context.ts'
import { configMap, type ConfigMap, type ConfigMapInput } from '../../src/api/core/v1/config-map.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'
import { Client, type ResourceClient } from '../../src/client/client.ts'
import { HttpsTransport } from '../../src/client/transport/https-transport.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodeOutbound } from '../../src/platform/node/http/outbound.ts'
import { ownAddress } from '../own-address.ts'
import { newFolder, startUp, startUpIn, type RunningUp } from '../process.ts'
import { until } from '../until.ts'

const namespace = 'default'
const ctx = context(new AbortController().signal)
const path = `/api/v1/namespaces/${namespace}/configmaps`
const labels = { of: 'this-test' }
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)

function accessBy(kubeconfig: string): { config: KubeConfig; core: CoreV1Api } {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  return { config, core: config.makeApiClient(CoreV1Api) }
}

test('create, read, replace, patch, list, watch and delete', async () => {
  await using up = await startUp('--nodes', '0', '--store', 'memory')
  const { config, core } = accessBy(up.kubeconfig)
  const events: string[] = []
  const ended = Promise.withResolvers<void>()
  const watching = await new Watch(config).watch(
    path,
    { labelSelector: 'of=this-test', allowWatchBookmarks: true },
    (type: string, { metadata, data }: V1ConfigMap) => {
      events.push(`${type} ${metadata?.name} ${data?.['n']}`)
      if (type === 'DELETED') ended.resolve()
    },
    () => {},
  )
  const body = { metadata: { name: 'one', labels }, data: { n: '1' } }
  const made = await core.createNamespacedConfigMap({ namespace, body })
  await rejects(core.createNamespacedConfigMap({ namespace, body }), { code: 409 })
  const changed = Object.assign(new V1ConfigMap(), made, { data: { n: '2' } })
  await core.replaceNamespacedConfigMap({ namespace, name: 'one', body: changed })
  await rejects(core.replaceNamespacedConfigMap({ namespace, name: 'one', body: made }), { code: 409 })
  const patched = await core.patchNamespacedConfigMap({ namespace, name: 'one', body: { data: { n: '3' } } }, merge)
  deepEqual([patched.data, patched.metadata?.uid], [{ n: '3' }, made.metadata?.uid])
  const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: 'of=this-test' })
  deepEqual(
    items.map(({ data }) => data),
    [{ n: '3' }],
  )
  await core.deleteNamespacedConfigMap({ namespace, name: 'one' })
  await rejects(core.readNamespacedConfigMap({ namespace, name: 'one' }), { code: 404 })
  await ended.promise
  watching.abort()
  deepEqual(events, ['ADDED one 1', 'MODIFIED one 2', 'MODIFIED one 3', 'DELETED one 3'])
})

const objects = 100
const changesEach = 100
/** The server is killed after this many changes of each object. */
const killedAt = [30, 65]

const pause = (ms: number) => realClock.sleep(ms, ctx.signal)

/** Retries while the server is down. Repeating a change that was applied without a response has no effect. */
async function retryUntilDone<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await act()
    } catch (error) {
      const { code } = error as { code?: unknown }
      if ((typeof code === 'number' && code < 500 && code !== 429) || tries === 300) throw error
      await pause(100)
    }
}

const nameOf = (index: number) => `m${index}`

/** Updates every object from one count to the next, and kills the server meanwhile. */
async function makeChanges(
  maps: ResourceClient<ConfigMap, ConfigMapInput>,
  restart: () => Promise<void>,
): Promise<void> {
  const change = async (index: number, count: number) => {
    const name = nameOf(index)
    const data = { n: String(count) }
    const request =
      count === 1
        ? () => maps.create({ metadata: { name, labels }, data }, namespace, ctx)
        : () => maps.patch(name, namespace, { data }, 'merge', ctx)
    await retryUntilDone(request).catch((error: unknown) => {
      // The object was created, but the response was lost.
      if (count !== 1 || !hasReason(error, 'AlreadyExists')) throw error
    })
  }
  for (let count = 1; count <= changesEach; count++) {
    const restarting = killedAt.includes(count) ? restart() : Promise.resolve()
    await Promise.all(Array.from({ length: objects }, (_, index) => change(index, count)))
    await restarting
  }
}

/** Watches like a client that loses its connection: resumes from the last version that it received. */
function watchOn(config: KubeConfig, from: string, see: (type: string, object: V1ConfigMap) => void): () => void {
  let resourceVersion = from
  let isOver = false
  let current: AbortController | undefined
  const begin = async (): Promise<void> => {
    if (isOver) return
    const query = { resourceVersion, labelSelector: 'of=this-test' }
    current = await new Watch(config).watch(
      path,
      query,
      (type: string, object: V1ConfigMap) => {
        resourceVersion = object.metadata?.resourceVersion ?? resourceVersion
        see(type, object)
      },
      () => void pause(50).then(begin),
    )
  }
  void begin()
  return () => {
    isOver = true
    current?.abort()
  }
}

test('10,000 changes over two kills: a watch receives each once, and informers end with the final state', async () => {
  const folder = await newFolder()
  const start = (port = '0') => startUpIn(folder, '--nodes', '0', '--bind', ownAddress, '--port', port)
  let server: RunningUp = await start()
  const { config, core } = accessBy(server.kubeconfig)
  const { server: origin, authority, identity } = parseKubeconfig(await readFile(server.kubeconfig, 'utf8'))
  // The load is written by our own client, which is faster; the watches are under test.
  const outbound = nodeOutbound.connect({ origin, tls: { authority, ...identity } })
  const maps = new Client(new HttpsTransport(outbound, 'test')).of(configMap)
  const { metadata } = await core.listNamespacedConfigMap({ namespace })
  const seen = new Map<string, string[]>()
  const stopWatch = watchOn(config, metadata?.resourceVersion ?? '', (type, object) => {
    const name = object.metadata?.name ?? `${type} ${JSON.stringify(object)}`
    seen.set(name, [...(seen.get(name) ?? []), `${type === 'DELETED' ? 'gone after ' : ''}${object.data?.['n']}`])
  })
  const informer = makeInformer(
    config,
    path,
    () => core.listNamespacedConfigMap({ namespace, labelSelector: 'of=this-test' }),
    'of=this-test',
  )
  const newest = new Map<string, number>()
  const steps: string[] = []
  informer.on('change', ({ metadata: now }) => {
    const name = now?.name ?? ''
    const version = Number(now?.resourceVersion)
    if (version <= (newest.get(name) ?? 0)) steps.push(`${name} went from ${newest.get(name)} to ${version}`)
    newest.set(name, version)
  })
  let isOver = false
  informer.on(
    'error',
    () =>
      void pause(50)
        .then(() => (isOver ? undefined : informer.start()))
        .catch(() => {}),
  )
  try {
    await informer.start()
    await makeChanges(maps, async () => {
      await server.end('SIGKILL')
      server = await start(new URL(origin).port)
    })
    const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: 'of=this-test' })
    const truth = new Map(items.map((item) => [item.metadata?.name, item.metadata?.resourceVersion]))
    const informed = () => new Map(informer.list().map((item) => [item.metadata?.name, item.metadata?.resourceVersion]))
    await until(() => isSame(informed(), truth))
    deepEqual(informed(), truth, 'the informer has what the server has')
    deepEqual(steps, [], 'the informer never went back')
    await Promise.all(
      items.map((item) =>
        retryUntilDone(() => core.deleteNamespacedConfigMap({ namespace, name: item.metadata?.name ?? '' })),
      ),
    )
    const isDone = () => [...seen.values()].filter((counts) => counts.at(-1)?.startsWith('gone')).length === objects
    await until(isDone)
    const each = [...Array.from({ length: changesEach }, (_, index) => String(index + 1)), `gone after ${changesEach}`]
    for (let index = 0; index < objects; index++) deepEqual(seen.get(nameOf(index)), each, nameOf(index))
    equal(seen.size, objects)
    await until(() => informer.list().length === 0)
  } finally {
    // A watch that ends with the server would restart the informer, and the test would never end.
    isOver = true
    stopWatch()
    await informer.stop()
    await outbound.close()
    await server.end()
    await rm(folder, { recursive: true, force: true })
  }
})

const isSame = (a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
