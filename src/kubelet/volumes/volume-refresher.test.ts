// Volumes of running pods follow API objects, in a whole cluster with a simulated disk.
import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { event } from '../../api/core/v1/event.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { soloNode } from '../solo.harness.ts'

const ctx = context(new AbortController().signal)

async function startNode() {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const { runtime, host, start } = soloNode(cluster)
  let tasks = start()
  await clock.advance('5s')
  const uidOf = async () => (await client.of(pod).get('p', 'default', ctx)).metadata.uid
  return {
    client,
    clock,
    disk: host.disk,
    runtime,
    async restart(meanwhile: () => Promise<void>) {
      await tasks[Symbol.asyncDispose]()
      await meanwhile()
      tasks = start()
    },
    async run(volume: object, more: object = {}) {
      const spec = {
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
        volumes: [{ name: 'v', ...volume }],
        ...more,
      }
      await client.of(pod).create({ metadata: { name: 'p', labels: { a: '1' } }, spec }, 'default', ctx)
      await clock.advance('5s')
    },
    async read(type: string, path: string) {
      const place = `/pods/${await uidOf()}/volumes/kubernetes.io~${type}/v/${path}`
      const bytes = await host.disk.readTail(place, 10_000)
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
    },
    async events() {
      const { items } = await client.of(event).list({ fieldSelector: 'involvedObject.name=p' }, ctx)
      return items.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason} ${message}`)
    },
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}

test('the volumes of a finished pod are unmounted', async () => {
  await using node = await startNode()
  await node.run({ emptyDir: { medium: 'Memory' } }, { restartPolicy: 'Never', activeDeadlineSeconds: 20 })
  equal((await node.disk.mountsBelow('/pods')).length, 1)
  await node.clock.advance('1m')
  equal((await node.client.of(pod).get('p', 'default', ctx)).status.phase, 'Failed')
  deepEqual(await node.disk.mountsBelow('/pods'), [])
})

const settings = (data: Record<string, string>, more: object = {}) => ({
  metadata: { name: 'settings' },
  data,
  ...more,
})

test('a changed ConfigMap is updated at once; a deleted one keeps its files and causes an event', async () => {
  await using node = await startNode()
  const maps = node.client.of(configMap)
  await maps.create(settings({ color: 'red' }), 'default', ctx)
  await node.run({ configMap: { name: 'settings' } })
  equal(await node.read('configmap', 'color'), 'red')
  await maps.patch('settings', 'default', { data: { color: 'blue', size: 'big' } }, 'merge', ctx)
  await node.clock.advance('1s')
  deepEqual([await node.read('configmap', 'color'), await node.read('configmap', 'size')], ['blue', 'big'])
  await maps.delete('settings', 'default', {}, ctx)
  await node.clock.advance('40s')
  equal(await node.read('configmap', 'color'), 'blue')
  match((await node.events()).join(), /FailedMount MountVolume.SetUp failed for volume "v" : configmap "settings" not/)
})

test('files of an optional Secret appear and disappear with it', async () => {
  await using node = await startNode()
  const secrets = node.client.of(secret)
  await node.run({ secret: { secretName: 'keys', optional: true } })
  equal(await node.read('secret', 'token'), undefined)
  await secrets.create({ metadata: { name: 'keys' }, stringData: { token: 'hunter2' } }, 'default', ctx)
  await node.clock.advance('1s')
  equal(await node.read('secret', 'token'), 'hunter2')
  await secrets.delete('keys', 'default', {}, ctx)
  await node.clock.advance('1s')
  deepEqual([await node.read('secret', 'token'), await node.events()], [undefined, []])
})

test('an immutable ConfigMap is not watched: a new one of the same name is not used', async () => {
  await using node = await startNode()
  const maps = node.client.of(configMap)
  await maps.create(settings({ color: 'red' }, { immutable: true }), 'default', ctx)
  await node.run({ configMap: { name: 'settings' } })
  await maps.delete('settings', 'default', {}, ctx)
  await maps.create(settings({ color: 'blue' }), 'default', ctx)
  await node.clock.advance('2m')
  deepEqual([await node.read('configmap', 'color'), await node.events()], ['red', []])
})

test('changed labels are updated', async () => {
  await using node = await startNode()
  await node.run({ downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } })
  equal(await node.read('downward-api', 'labels'), 'a="1"')
  await node.client.of(pod).patch('p', 'default', { metadata: { labels: { b: '2' } } }, 'merge', ctx)
  await node.clock.advance('1s')
  equal(await node.read('downward-api', 'labels'), 'a="1"\nb="2"')
})

test('a token is renewed after 80 % of its lifetime, and not before', async () => {
  await using node = await startNode()
  await node.run({ projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 1000 } }] } })
  const first = await node.read('projected', 't')
  match(first ?? '', /^ey/)
  await node.clock.advance('780s')
  equal(await node.read('projected', 't'), first)
  await node.clock.advance('20s')
  const second = await node.read('projected', 't')
  notEqual(second, first)
  await node.clock.advance('800s')
  notEqual(await node.read('projected', 't'), second)
})

test('a restarted kubelet updates changed volumes and removes those of deleted pods', async () => {
  await using node = await startNode()
  const maps = node.client.of(configMap)
  await maps.create(settings({ color: 'red' }), 'default', ctx)
  await node.run({ configMap: { name: 'settings' } })
  await node.restart(async () => {
    await maps.patch('settings', 'default', { data: { color: 'blue' } }, 'merge', ctx)
    await node.disk.makeDirectory('/pods/forgotten/volumes/kubernetes.io~secret/v', 0o755)
    await node.disk.mountTmpfs('/pods/forgotten/volumes/kubernetes.io~secret/v', undefined)
  })
  await node.clock.advance('2s')
  equal(await node.read('configmap', 'color'), 'blue')
  deepEqual([(await node.disk.list('/pods')).includes('forgotten'), await node.disk.mountsBelow('/pods')], [false, []])
  await node.restart(() => node.client.of(pod).delete('p', 'default', { gracePeriodSeconds: 0 }, ctx))
  await node.clock.advance('2s')
  deepEqual([await node.disk.list('/pods'), await node.runtime.podUids(ctx.signal)], [[], []])
})
