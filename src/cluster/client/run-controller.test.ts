// Controllers of users of the library, in virtual time.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { namespace as namespaceKind } from '../../api/core/v1/namespace.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { controllerReference } from '../../api/meta/object.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { runController, watched, type ControllerOptions, type ObjectName } from './run-controller.ts'

type ConfigMaps = ControllerOptions<ReturnType<typeof asConfigMap>>
const asConfigMap = (object: NonNullable<(typeof configMap)['types']>['object']) => object
const any = (value: unknown): never => value as never

/** Starts a controller of ConfigMaps that ends with the test. */
function started(cluster: Awaited<ReturnType<typeof startCluster>>, options: Partial<ConfigMaps>) {
  const stop = new AbortController()
  const seen: string[] = []
  const reconcile: ConfigMaps['reconcile'] = ({ namespace, name, object }) => {
    seen.push(`${namespace}/${name} ${object?.data?.['a'] ?? (object === undefined ? 'gone' : 'empty')}`)
    return Promise.resolve()
  }
  const running = runController(cluster, { name: 'copies', kind: configMap, reconcile, ...options }, stop.signal)
  return {
    running,
    seen,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const named = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  data,
})

test('an object is reconciled when the controller starts, when it changes, and when it is deleted', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  await maps.create(named('first', { a: '1' }))
  await using controller = started(cluster, { labelSelector: '!hidden', namespace: 'default' })
  await cluster.until(() => controller.seen.some((each) => each.startsWith('default/first')))
  await maps.create(named('hidden', {}, { hidden: 'yes' }))
  await cluster.client.of(namespaceKind).create({ metadata: { name: 'other' } })
  await maps.create({ ...named('elsewhere'), metadata: { name: 'elsewhere', namespace: 'other' } })
  controller.seen.length = 0
  await maps.patch('first', { data: { a: '2' } })
  await cluster.until(() => controller.seen.includes('default/first 2'))
  await maps.delete('first')
  await cluster.until(() => controller.seen.includes('default/first gone'))
  deepEqual(controller.seen, ['default/first 2', 'default/first gone'])
})

test('changes of owned and of watched objects reconcile those that depend on them', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client } = cluster
  const owner = await client.of(configMap).create(named('owner'))
  const found: string[] = []
  await using _ = started(cluster, {
    namespace: 'default',
    labelSelector: '!kube',
    owns: [deployment],
    watches: [
      watched(secret, ({ metadata: { namespace = '' }, data }) =>
        Object.keys(data ?? {}).map((name) => ({ namespace, name })),
      ),
    ],
    reconcile({ name, cached }) {
      const deployments = cached(deployment)
      found.push(
        `${name}: ${deployments.list('default').length} ${deployments.get('web')?.spec.replicas} ${cached(secret).list().length}`,
      )
      return Promise.resolve()
    },
  })
  await cluster.until(() => found.includes('owner: 0 undefined 0'))
  const labels = { app: 'web' }
  await client.of(deployment).create({
    metadata: { name: 'web', ownerReferences: [controllerReference(owner)] },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })
  await cluster.until(() => found.includes('owner: 1 0 0'))
  found.length = 0
  await client.of(secret).create({ metadata: { name: 's' }, stringData: { other: 'x' } })
  await cluster.until(() => found.length > 0)
  deepEqual(found, ['other: 1 0 1'])
  await client.of(deployment).delete('web')
  await cluster.until(() => found.includes('owner: 0 undefined 1'))
})

test('a failed reconcile is repeated after a pause, one that asks for it after its time', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const errors: [ObjectName, string][] = []
  let calls = 0
  const times: number[] = []
  await using _ = started(cluster, {
    namespace: 'default',
    onError: (error, name) => errors.push([name, (error as Error).message]),
    reconcile({ name }) {
      if (name !== 'a') return Promise.resolve()
      times.push(cluster.clock.nowMs())
      if (++calls <= 2) return Promise.reject(new Error(`failed ${calls}`))
      return Promise.resolve({ requeueAfter: '30s' })
    },
  })
  await cluster.client.of(configMap).create(named('a'))
  await cluster.until(() => calls === 3)
  deepEqual(errors, [
    [{ namespace: 'default', name: 'a' }, 'failed 1'],
    [{ namespace: 'default', name: 'a' }, 'failed 2'],
  ])
  await cluster.until(() => calls === 5)
  deepEqual(
    times.slice(2).map((time) => time - (times[2] ?? 0)),
    [0, 30_000, 60_000],
  )
})

test('a conflict is repeated and not reported; kinds that are not followed cannot be read', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const errors: string[] = []
  let attempts = 0
  await using _ = started(cluster, {
    namespace: 'default',
    onError: (error) => errors.push((error as Error).message),
    async reconcile({ name, object, cached, context }) {
      if (name !== 'a' || object === undefined || ++attempts > 2) return
      if (attempts === 1)
        await cluster.client
          .of(configMap)
          .update({ ...object, metadata: { ...object.metadata, resourceVersion: '1' } }, context)
      cached(secret)
    },
  })
  await cluster.client.of(configMap).create(named('a'))
  await cluster.until(() => attempts === 3)
  deepEqual(errors, ['cached: secrets are not followed; add Secret to owns or watches'])
})

test('of two processes one acts; when it stops, the other one takes over', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await cluster.client.of(configMap).create(named('a'))
  const first = started(cluster, { namespace: 'default', leaderElection: { namespace: 'default', identity: 'one' } })
  await cluster.until(() => first.seen.length > 0)
  await using second = started(cluster, { namespace: 'default', leaderElection: { namespace: 'default' } })
  await cluster.clock.advance('1m')
  deepEqual(second.seen, [])
  const holder = async () => (await cluster.client.of(lease).get('copies')).spec.holderIdentity ?? ''
  equal(await holder(), 'one')
  await first[Symbol.asyncDispose]()
  equal(await holder(), '')
  await cluster.until(() => second.seen.length > 0)
  match(await holder(), /_[0-9a-f-]{36}$/)
})

const mistakes: [what: string, options: object, message: RegExp][] = [
  ['a misspelt option', { own: [] }, /^runController: unknown own; did you mean owns\?$/],
  ['no name', { name: '' }, /^runController: name: "" is no name$/],
  ['no function', { reconcile: 1 }, /^runController: reconcile is no function$/],
  ['a name instead of a kind', { owns: ['pods'] }, /^runController: "pods" is no kind; import it/],
  [
    'a selector of a kind that is owned',
    { labelSelector: 'a', owns: [configMap] },
    /^runController: labelSelector: configmaps are owned/,
  ],
  ['too many workers', { workers: 0 }, /^runController: workers: 0 is no whole number from 1 to 100$/],
  [
    'an election without a namespace',
    { leaderElection: { name: 'a' } },
    /^runController: leaderElection: unknown name/,
  ],
]
for (const [what, options, message] of mistakes)
  test(`rejected: ${what}`, () =>
    rejects(
      runController(
        any({}),
        any({ name: 'a', kind: configMap, reconcile: async () => {}, ...options }),
        AbortSignal.abort(),
      ),
      { name: 'TypeError', message },
    ))
