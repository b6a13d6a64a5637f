// The default StorageClass with real containers: a StatefulSet keeps its data when the cluster and its pod restart.
import { equal, match } from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const labels = { app: 'db' }
const objects = (image: string) => [
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'db' }, spec: { clusterIP: 'None', selector: labels } },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          securityContext: { runAsUser: 1000, runAsGroup: 1000 },
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'c', image, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
        },
      ],
    },
  },
]

const ready = ({ k }: RealUp) =>
  k(['rollout', 'status', 'statefulset/db', '--timeout=120s']).catch(async (error: unknown) => {
    throw new Error(await k(['describe', 'pvc,pv,pod']), { cause: error })
  })

inNamespaces(import.meta.url, () => {
  test('data of a claim survives the cluster and the pod, and is removed with the claim', async () => {
    await using up = await startRealUp()
    const volumes = join(dirname(up.podsFolder), 'local-path')
    await up.apply(...objects(up.image))
    await ready(up)
    match(
      await up.k(['get', 'storageclass']),
      /local-path \(default\) +coxswain.dev\/local-path +Delete +WaitForFirstConsumer/,
    )
    await up.sh('db-0', 'echo -n kept > /data/file')
    equal((await stat(volumes)).mode & 0o777, 0o700)

    await up.crash()
    await ready(up)
    equal(await up.sh('db-0', 'cat /data/file'), 'kept')
    await up.k(['delete', 'pod', 'db-0'])
    await ready(up)
    equal(await up.sh('db-0', 'cat /data/file'), 'kept')

    await up.k(['delete', 'statefulset', 'db'])
    await up.k(['delete', 'pvc', 'data-db-0', '--timeout=60s'])
    await up.k(['wait', 'pv', '--all', '--for=delete', '--timeout=60s'])
    equal((await readdir(volumes)).length, 0)
  })
})
