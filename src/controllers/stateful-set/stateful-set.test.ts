// Tables for the plans of StatefulSets: order, partition, claims and who owns them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { controllerRevision, type ControllerRevision } from '../../api/apps/v1/controller-revision.ts'
import { statefulSet, type StatefulSet } from '../../api/apps/v1/stateful-set.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { aPod, firstObject, labels, made, planOf, type PodLook, shown, template } from '../runtime/plan.harness.ts'
import { statefulSetController } from './stateful-set.ts'

const aSet = (spec: object = {}, body: object = {}) =>
  made(statefulSet, 'db', {
    spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: labels }, template: template('1'), ...spec },
    ...body,
  })

/** The revision that the controller itself would make for the set's template. */
function revisionOf(set: StatefulSet, revision: number): ControllerRevision {
  const { metadata, data } = firstObject<{ metadata: { name: string }; data: object }>(
    planOf(statefulSetController, set),
  )
  return made(controllerRevision, metadata.name, { metadata, data, revision })
}

const first = revisionOf(aSet(), 1)
const second = revisionOf(aSet({ template: template('2') }), 2)
const member = (ordinal: number, revision: ControllerRevision, look: PodLook & Record<string, unknown> = {}): Pod =>
  aPod(`db-${ordinal}`, {
    labels: {
      ...labels,
      'controller-revision-hash': revision.metadata.name,
      'statefulset.kubernetes.io/pod-name': `db-${ordinal}`,
      'apps.kubernetes.io/pod-index': String(ordinal),
    },
    ...look,
  })
const unready = { ready: false }
const ending = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const updated = (spec: object = {}) =>
  aSet({ template: template('2'), ...spec }, { status: { replicas: 3, currentRevision: first.metadata.name } })
const rolling = (strategy: object) => ({ updateStrategy: { rollingUpdate: strategy } })

const plans: [why: string, set: StatefulSet, others: ApiObject[], changes: string[]][] = [
  ['first writes down its template', aSet(), [], [`create controllerrevision ${first.metadata.name}`]],
  ['begins with the first pod', aSet(), [first], ['create pod db-0']],
  ['waits until it is ready', aSet(), [first, member(0, first, unready)], []],
  ['goes on with the next', aSet(), [first, member(0, first)], ['create pod db-1']],
  ['is content', aSet(), [first, member(0, first), member(1, first), member(2, first)], []],
  [
    'makes all at once when it may',
    aSet({ podManagementPolicy: 'Parallel' }),
    [first],
    ['create pod db-0', 'create pod db-1', 'create pod db-2'],
  ],
  ['starts at its first ordinal', aSet({ ordinals: { start: 5 } }), [first], ['create pod db-5']],
  ['waits for one that is ending', aSet(), [first, member(0, first, ending)], []],
  ['replaces one that has failed', aSet(), [first, member(0, first, { phase: 'Failed' })], ['delete pod db-0']],
  [
    'scales down from the top, one by one',
    aSet({ replicas: 1 }),
    [first, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2'],
  ],
  [
    'scales down all at once when it may',
    aSet({ replicas: 1, podManagementPolicy: 'Parallel' }),
    [first, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2', 'delete pod db-1'],
  ],
  [
    'waits while a pod that leaves has not left',
    aSet({ replicas: 1 }),
    [first, member(0, first), member(1, first), member(2, first, ending)],
    [],
  ],
  [
    'does not scale down while a lower one that leaves is unwell',
    aSet({ replicas: 1 }),
    [first, member(0, first), member(1, first, unready), member(2, first, unready)],
    [],
  ],
  [
    'updates from the top, one by one',
    updated(),
    [first, second, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2'],
  ],
  [
    'updates the next when the last is ready',
    updated(),
    [first, second, member(0, first), member(1, first), member(2, second)],
    ['delete pod db-1'],
  ],
  [
    'leaves those below the partition',
    updated(rolling({ partition: 2 })),
    [first, second, member(0, first), member(1, first), member(2, second)],
    [],
  ],
  [
    'brings a pod below the partition back as it was',
    updated(rolling({ partition: 2 })),
    [first, second, member(1, first), member(2, second)],
    ['create pod db-0'],
  ],
  [
    'updates as many at once as may be unavailable',
    updated(rolling({ maxUnavailable: 2 })),
    [first, second, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2', 'delete pod db-1'],
  ],
  [
    'leaves the update to deletions',
    updated({ updateStrategy: { type: 'OnDelete' } }),
    [first, second, member(0, first), member(1, first), member(2, first)],
    [],
  ],
  [
    'renumbers the revision that it returns to',
    aSet({}, { status: { replicas: 0, currentRevision: second.metadata.name } }),
    [first, second],
    [`update controllerrevision ${first.metadata.name}`],
  ],
  [
    'forgets revisions beyond its limit',
    updated({ replicas: 0, revisionHistoryLimit: 0 }),
    [{ ...first, metadata: { ...first.metadata, name: 'db-old' } }, first, second],
    ['delete controllerrevision db-old'],
  ],
  ['gives a pod its labels back', aSet({ replicas: 1 }), [first, member(0, first, { labels })], ['patch pod db-0']],
]
for (const [why, set, others, changes] of plans)
  test(`a StatefulSet ${why}`, () => deepEqual(shown(planOf(statefulSetController, set, ...others).changes), changes))

test('a pod has its ordinal in name, labels, host name and claims; below the partition the old template', () => {
  const plan = planOf(statefulSetController, updated(rolling({ partition: 1 })), first, second)
  const { metadata, spec } = firstObject<Pod>(plan)
  deepEqual(metadata.labels, {
    ...labels,
    'apps.kubernetes.io/pod-index': '0',
    'statefulset.kubernetes.io/pod-name': 'db-0',
    'controller-revision-hash': first.metadata.name,
  })
  deepEqual([spec.hostname, spec.subdomain, spec.containers[0]?.image], ['db-0', 'db', '1'])
  equal(plan.changes[0]?.tell?.(aPod('x')).message, 'Create Pod db-0 in StatefulSet db successful')
})

const claims = { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }] }
const aClaim = (owners: object[] = [], name = 'data-db-0') =>
  made(persistentVolumeClaim, name, { metadata: { ownerReferences: owners }, spec: { accessModes: ['ReadWriteOnce'] } })
const retention = (whenDeleted: string, whenScaled: string) => ({
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
})
const owner = (object: ApiObject, uid = object.metadata.uid) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid,
  controller: true,
})

test('claims come before their pod, stay when it goes, and hold a new one back while they go', () => {
  const set = aSet({ replicas: 1, ...claims })
  const steps = (...others: ApiObject[]) => shown(planOf(statefulSetController, set, first, ...others).changes)
  deepEqual(steps(), ['create persistentvolumeclaim data-db-0'])
  deepEqual(steps(aClaim()), ['create pod db-0'])
  deepEqual(steps(aClaim([owner(member(0, first), 'earlier')])), [], 'it goes with an earlier pod')
  const [create] = planOf(statefulSetController, set, first).changes
  match(create?.tell?.(aClaim()).message ?? '', /^Create Claim data-db-0 Pod db-0 in StatefulSet db success$/)
})

const retentions: [why: string, policy: object, replicas: number, wanted: string[]][] = [
  ['nobody', retention('Retain', 'Retain'), 1, []],
  ['the set, to go with it', retention('Delete', 'Retain'), 1, ['StatefulSet']],
  ['nobody while its pod stays', retention('Retain', 'Delete'), 1, []],
  ['the pod that leaves', retention('Retain', 'Delete'), 0, ['Pod']],
  ['the pod that leaves before the set', retention('Delete', 'Delete'), 0, ['Pod']],
  ['the set even when its pod leaves', retention('Delete', 'Retain'), 0, ['StatefulSet']],
]
for (const [why, policy, replicas, wanted] of retentions)
  test(`a claim belongs to ${why}: ${JSON.stringify(policy)} at ${replicas}`, () => {
    const set = aSet({ replicas, ...claims, ...policy })
    const others = [owner(set), owner(member(0, first))]
    const { changes } = planOf(statefulSetController, set, first, member(0, first), aClaim(others))
    const update = changes.find(({ of }) => of.kind === 'PersistentVolumeClaim')?.object as ApiObject | undefined
    deepEqual(
      (update?.metadata.ownerReferences ?? []).map(({ kind }) => kind),
      wanted,
    )
  })

test('the status counts, and moves to the new revision when all have it', () => {
  const midway = planOf(
    statefulSetController,
    updated(),
    first,
    second,
    member(0, first),
    member(1, first),
    member(2, second, unready),
  )
  deepEqual(midway.status, {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 2,
    currentReplicas: 2,
    updatedReplicas: 1,
    availableReplicas: 2,
    currentRevision: first.metadata.name,
    updateRevision: second.metadata.name,
    collisionCount: 0,
  })
  const done = planOf(
    statefulSetController,
    updated(),
    first,
    second,
    ...[0, 1, 2].map((ordinal) => member(ordinal, second)),
  )
  equal((done.status as StatefulSet['status']).currentRevision, second.metadata.name)
  const taken = {
    ...first,
    data: {},
    metadata: {
      ...first.metadata,
      ownerReferences: [owner(first, 'other')].map((each) => ({ ...each, name: 'other' })),
    },
  }
  equal((planOf(statefulSetController, aSet(), taken).status as StatefulSet['status']).collisionCount, 1)
})
