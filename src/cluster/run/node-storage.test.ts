// Volumes of the class local-path on a node whose kubelet is another process: the kubelet provisions them as an agent of its
// node, which may write nothing of other nodes.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import { localPathNodeOf } from '../../storage/local-path/claim-decision.ts'
import { localPathAgent } from '../../apiserver/authorization/node/node-agents.ts'
import { openRemote } from '../client/remote.ts'
import { nodeAgentTokens, ServiceAccountCredentials } from '../client/service-account-credentials.ts'
import { startJoinable, token } from './joinable-cluster.harness.ts'

const ctx = context(new AbortController().signal)

/** Watches until `count` objects satisfy the condition, and returns them. At least one must have existed. */
async function untilCount<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  count: number,
  isWanted: (object: T) => boolean,
): Promise<readonly T[]> {
  const found = new Map<string, T>()
  for await (const event of client.of(kind).watch({ resourceVersion: '0' }, ctx)) {
    if (event.type === 'BOOKMARK') continue
    const { name } = event.object.metadata
    if (event.type !== 'DELETED' && isWanted(event.object)) found.set(name, event.object)
    else found.delete(name)
    if (found.size === count) break
  }
  return [...found.values()]
}

const labels = { app: 'db' }
const database = {
  metadata: { name: 'db' },
  spec: {
    replicas: 2,
    serviceName: 'db',
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
            ],
          },
        },
        containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
      },
    ],
  },
}

test('a StatefulSet has volumes on two nodes, each provisioned by its own node', async () => {
  await using world = await startJoinable({ nodes: 1, localPath: true })
  const { admin, directory, run } = world
  const stop = new AbortController()
  const ready = Promise.withResolvers<unknown>()
  const ended = run(await world.bootstrapPath(`${token.id}.${token.secret}`), ready.resolve, stop.signal)
  try {
    await Promise.race([ready.promise, ended])
    await admin.of(statefulSet).create(database, 'default', ctx)
    await untilCount(admin, pod, 2, ({ status }) => status.phase === 'Running')
    const volumes = await untilCount(admin, persistentVolume, 2, ({ status }) => status.phase === 'Bound')
    deepEqual(volumes.map(localPathNodeOf).toSorted(), ['node-0', 'worker'])

    await using remote = await openRemote(await readFile(join(directory, 'kubeconfig'), 'utf8'), ctx.signal)
    const kubelet = remote.clientAs('test')
    const accounts = new ServiceAccountCredentials(nodeAgentTokens(kubelet, 'worker'), realClock)
    const node = remote.clientWith('test', accounts.of(localPathAgent)).of(persistentVolume)
    const [foreign, own] = volumes.toSorted((a) => (localPathNodeOf(a) === 'worker' ? 1 : -1)) as [
      PersistentVolume,
      PersistentVolume,
    ]
    const isForbidden = { reason: 'Forbidden' }
    const copy = (volume: PersistentVolume, change: object) => ({
      metadata: { ...volume.metadata, name: 'copy', resourceVersion: '', uid: '' },
      spec: { ...volume.spec, ...change },
    })
    await rejects(kubelet.of(persistentVolume).list({}, ctx), isForbidden)
    await rejects(kubelet.of(persistentVolumeClaim).list({}, ctx), isForbidden)
    equal((await node.list({}, ctx)).items.length, 2)
    await rejects(node.create(copy(foreign, {}), '', ctx), isForbidden)
    await rejects(node.create(copy(own, { local: { path: '/etc' } }), '', ctx), isForbidden)
    await rejects(node.delete(foreign.metadata.name, '', {}, ctx), isForbidden)
    await rejects(node.delete(own.metadata.name, '', {}, ctx), isForbidden)
    const grown = { spec: { capacity: { storage: '2Mi' } } }
    await rejects(node.patch(foreign.metadata.name, '', grown, 'merge', ctx), isForbidden)

    await admin.of(statefulSet).delete('db', 'default', {}, ctx)
    for (const name of ['data-db-0', 'data-db-1'])
      await admin.of(persistentVolumeClaim).delete(name, 'default', {}, ctx)
    equal((await untilCount(admin, persistentVolume, 0, () => true)).length, 0)
  } finally {
    stop.abort()
    await ended
  }
})
