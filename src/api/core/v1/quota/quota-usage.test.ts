import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { lease } from '../../../coordination/v1/lease.ts'
import type { Kind } from '../../../kind/kind.ts'
import { objectFrom } from '../../../kind/kind.harness.ts'
import { pod } from '../pod/pod.ts'
import { persistentVolumeClaim } from '../volume/persistent-volume-claim.ts'
import { quotaUsed, usesQuotaOf } from './quota-usage.ts'
import { secret } from '../secret.ts'
import { service } from '../service/service.ts'

const nowMs = Date.UTC(2030, 0, 1)
const podWith = (memory: string, phase: string, metadata: object = {}) => {
  const object = objectFrom(pod, {
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { memory } } }] },
  })
  return [pod, { ...object, metadata: { ...object.metadata, ...metadata }, status: { phase } }] as const
}
const deleted = (secondsAgo: number) => ({
  deletionTimestamp: new Date(nowMs - secondsAgo * 1000).toISOString(),
  deletionGracePeriodSeconds: 30,
})

test('usage: terminated pods and pods with an overdue deletion only count as objects', () => {
  const quota = { spec: { hard: { pods: '9', 'count/pods': '9', 'requests.memory': '9Gi', secrets: '9' } } }
  const objects = [
    podWith('1Gi', 'Running'),
    podWith('512Mi', 'Pending'),
    podWith('1Gi', 'Succeeded'),
    podWith('1Gi', 'Failed'),
    podWith('1Gi', 'Running', deleted(31)),
    podWith('1Gi', 'Running', deleted(29)),
  ]
  const used = { pods: '3', 'count/pods': '6', 'requests.memory': '2560Mi', secrets: '0' }
  deepEqual(quotaUsed(quota, objects, nowMs), used)
  const kept = objectFrom(secret, { metadata: { name: 's', namespace: 'default' } })
  deepEqual(quotaUsed(quota, [...objects, [secret, kept]], nowMs), { ...used, secrets: '1' })
})

test('a scoped quota only counts objects that match its scopes', () => {
  const quota = { spec: { hard: { pods: '9' }, scopes: ['BestEffort'] } }
  deepEqual(quotaUsed(quota, [podWith('1Gi', 'Running')], nowMs), { pods: '0' })
})

const counted: [resource: string, by: string[]][] = [
  ['count/pods', ['pods']],
  ['pods', ['pods']],
  ['cpu', ['pods']],
  ['limits.memory', ['pods']],
  ['requests.hugepages-2Mi', ['pods']],
  ['limits.hugepages-2Mi', []],
  ['requests.example.com/gpu', ['pods']],
  ['limits.example.com/gpu', []],
  ['secrets', ['secrets']],
  ['count/secrets', ['secrets']],
  ['services.nodeports', ['services']],
  ['requests.storage', ['persistentvolumeclaims']],
  ['fast.storageclass.storage.k8s.io/persistentvolumeclaims', ['persistentvolumeclaims']],
  ['count/leases.coordination.k8s.io', ['leases']],
  ['leases', []],
  ['count/widgets.example.com', []],
]
for (const [resource, by] of counted)
  test(`${resource} is used by ${by.join() || 'nothing'}`, () => {
    const all: Kind[] = [lease, persistentVolumeClaim, pod, secret, service]
    deepEqual(
      all.filter((kind) => usesQuotaOf(kind, resource)).map(({ plural }) => plural),
      by,
    )
  })
