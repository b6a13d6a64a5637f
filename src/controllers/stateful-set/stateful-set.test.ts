// Tables for the plans of StatefulSets: order, partition, claims and their owners.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { controllerRevision, type ControllerRevision } from '../../api/apps/v1/controller-revision.ts'
import { statefulSet, type StatefulSet } from '../../api/apps/v1/stateful-set.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { aPod, firstObject, labels, made, planOf, type PodDetails, shown, template } from '../runtime/plan.harness.ts'
import { statefulSetController } from './stateful-set.ts'

const aSet = (spec: object = {}, body: object = {}) =>
  made(statefulSet, 'db', {
    spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: labels }, template: template('1'), ...spec },
    ...body,
  })

/** The revision that the controller creates for the set's template. */
function revisionOf(set: StatefulSet, revision: number): ControllerRevision {
  const { metadata, data } = firstObject<{ metadata: { name: string }; data: object }>(
    planOf(statefulSetController, set),
  )
  return made(controllerRevision, metadata.name, { metadata, data, revision })
}

const first = revisionOf(aSet(), 1)
const second = revisionOf(aSet({ template: template('2') }), 2)
const member = (
  ordinal: number,
  revision: ControllerRevision,
  details: PodDetails & Record<string, unknown> = {},
): Pod =>
  aPod(`db-${ordinal}`, {
    labels: {
      ...labels,
      'controller-revision-hash': revision.metadata.name,
      'statefulset.kubernetes.io/pod-name': `db-${ordinal}`,
      'apps.kubernetes.io/pod-index': String(ordinal),
    },
    ...details,
  })
const unready = { ready: false }
const ending = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const updated = (spec: object = {}) =>
  aSet({ template: template('2'), ...spec }, { status: { replicas: 3, currentRevision: first.metadata.name } })
const rolling = (strategy: object) => ({ updateStrategy: { rollingUpdate: strategy } })

const claimTemplate = (name: string) => ({ metadata: { name }, spec: { accessModes: ['ReadWriteOnce'] } })

const plans: [why: string, set: StatefulSet, others: ApiObject[], changes: string[]][] = [
  ['first creates a revision of its template', aSet(), [], [`create controllerrevision ${first.metadata.name}`]],
  ['creates its first pod', aSet(), [first], ['create pod db-0']],
  ['waits until the pod is ready', aSet(), [first, member(0, first, unready)], []],
  ['continues with the next pod', aSet(), [first, member(0, first)], ['create pod db-1']],
  ['with all pods changes nothing', aSet(), [first, member(0, first), member(1, first), member(2, first)], []],
  [
    'creates all pods at once with the policy Parallel',
    aSet({ podManagementPolicy: 'Parallel' }),
    [first],
    ['create pod db-0', 'create pod db-1', 'create pod db-2'],
  ],
  ['starts at its first ordinal', aSet({ ordinals: { start: 5 } }), [first], ['create pod db-5']],
  ['waits for a terminating pod', aSet(), [first, member(0, first, ending)], []],
  ['deletes a failed pod', aSet(), [first, member(0, first, { phase: 'Failed' })], ['delete pod db-0']],
  [
    'scales down from the highest ordinal, one by one',
    aSet({ replicas: 1 }),
    [first, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2'],
  ],
  [
    'scales down at once with the policy Parallel',
    aSet({ replicas: 1, podManagementPolicy: 'Parallel' }),
    [first, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2', 'delete pod db-1'],
  ],
  [
    'waits for a terminating pod when it scales down',
    aSet({ replicas: 1 }),
    [first, member(0, first), member(1, first), member(2, first, ending)],
    [],
  ],
  [
    'does not scale down while a pod with a lower ordinal is not ready',
    aSet({ replicas: 1 }),
    [first, member(0, first), member(1, first, unready), member(2, first, unready)],
    [],
  ],
  [
    'updates from the highest ordinal, one by one',
    updated(),
    [first, second, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2'],
  ],
  [
    'updates the next pod when the last is ready',
    updated(),
    [first, second, member(0, first), member(1, first), member(2, second)],
    ['delete pod db-1'],
  ],
  [
    'does not update pods below the partition',
    updated(rolling({ partition: 2 })),
    [first, second, member(0, first), member(1, first), member(2, second)],
    [],
  ],
  [
    'recreates a pod below the partition',
    updated(rolling({ partition: 2 })),
    [first, second, member(1, first), member(2, second)],
    ['create pod db-0'],
  ],
  [
    'updates as many pods at once as may be unavailable',
    updated(rolling({ maxUnavailable: 2 })),
    [first, second, member(0, first), member(1, first), member(2, first)],
    ['delete pod db-2', 'delete pod db-1'],
  ],
  [
    'does not update with the strategy OnDelete',
    updated({ updateStrategy: { type: 'OnDelete' } }),
    [first, second, member(0, first), member(1, first), member(2, first)],
    [],
  ],
  [
    'renumbers a revision that it reuses',
    aSet({}, { status: { replicas: 0, currentRevision: second.metadata.name } }),
    [first, second],
    [`update controllerrevision ${first.metadata.name}`],
  ],
  [
    'deletes revisions beyond its history limit',
    updated({ replicas: 0, revisionHistoryLimit: 0 }),
    [{ ...first, metadata: { ...first.metadata, name: 'db-old' } }, first, second],
    ['delete controllerrevision db-old'],
  ],
  ['restores the labels of a pod', aSet({ replicas: 1 }), [first, member(0, first, { labels })], ['patch pod db-0']],
]
for (const [why, set, others, changes] of plans)
  test(`a StatefulSet ${why}`, () => deepEqual(shown(planOf(statefulSetController, set, ...others).changes), changes))

const many = { replicas: 2_147_483_647, podManagementPolicy: 'Parallel' }
const burst = 500
const extremes: [why: string, set: StatefulSet, others: ApiObject[], first: string, last: string][] = [
  ['creates pods', aSet(many), [], 'create pod db-0', `create pod db-${burst - 1}`],
  ['skips what exists', aSet(many), [member(0, first)], 'create pod db-1', `create pod db-${burst}`],
  [
    'creates pods at the largest ordinals',
    aSet({ ...many, ordinals: { start: 2_147_483_647 } }),
    [],
    'create pod db-2147483647',
    `create pod db-${2_147_483_647 + burst - 1}`,
  ],
  [
    'creates claims',
    aSet({ ...many, volumeClaimTemplates: Array.from({ length: 60 }, (_, index) => claimTemplate(`v${index}`)) }),
    [],
    'create persistentvolumeclaim v0-db-0',
    'create persistentvolumeclaim v19-db-8',
  ],
  [
    'deletes surplus pods',
    aSet({ ...many, replicas: 1 }),
    [member(0, first), ...Array.from({ length: 600 }, (_, index) => member(index + 1, first))],
    'delete pod db-600',
    'delete pod db-101',
  ],
  [
    'replaces outdated pods',
    updated({ replicas: 600, ...rolling({ maxUnavailable: '100%' }) }),
    [second, ...Array.from({ length: 600 }, (_, index) => member(index, first))],
    'delete pod db-599',
    'delete pod db-100',
  ],
]
for (const [why, set, others, firstChange, lastChange] of extremes)
  test(`one plan of a StatefulSet with the policy Parallel ${why}, at most ${burst}`, () => {
    const changes = shown(planOf(statefulSetController, set, first, ...others).changes)
    deepEqual([changes.length, changes[0], changes.at(-1)], [burst, firstChange, lastChange])
  })

test('a pod has its ordinal in name, labels and host name; below the partition it has the old template', () => {
  const plan = planOf(statefulSetController, updated(rolling({ partition: 1 })), first, second)
  const { metadata, spec } = firstObject<Pod>(plan)
  deepEqual(metadata.labels, {
    ...labels,
    'apps.kubernetes.io/pod-index': '0',
    'statefulset.kubernetes.io/pod-name': 'db-0',
    'controller-revision-hash': first.metadata.name,
  })
  deepEqual([spec.hostname, spec.subdomain, spec.containers[0]?.image], ['db-0', 'db', '1'])
  equal(plan.changes[0]?.event?.(aPod('x')).message, 'Create Pod db-0 in StatefulSet db successful')
})

const claims = { volumeClaimTemplates: [claimTemplate('data')] }
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

test('claims are created before their pod, which waits while they are being deleted', () => {
  const set = aSet({ replicas: 1, ...claims })
  const steps = (...others: ApiObject[]) => shown(planOf(statefulSetController, set, first, ...others).changes)
  deepEqual(steps(), ['create persistentvolumeclaim data-db-0'])
  deepEqual(steps(aClaim()), ['create pod db-0'])
  deepEqual(steps(aClaim([owner(member(0, first), 'earlier')])), [], 'it is deleted with an earlier pod')
  const [create] = planOf(statefulSetController, set, first).changes
  match(create?.event?.(aClaim()).message ?? '', /^Create Claim data-db-0 Pod db-0 in StatefulSet db success$/)
})

const retentions: [why: string, policy: object, replicas: number, wanted: string[]][] = [
  ['no owner', retention('Retain', 'Retain'), 1, []],
  ['the set', retention('Delete', 'Retain'), 1, ['StatefulSet']],
  ['no owner while its pod is in range', retention('Retain', 'Delete'), 1, []],
  ['the pod that is scaled down', retention('Retain', 'Delete'), 0, ['Pod']],
  ['the pod that is scaled down, rather than the set', retention('Delete', 'Delete'), 0, ['Pod']],
  ['the set, even when its pod is scaled down', retention('Delete', 'Retain'), 0, ['StatefulSet']],
]
for (const [why, policy, replicas, wanted] of retentions)
  test(`the owner of a claim is ${why}: ${JSON.stringify(policy)} at ${replicas}`, () => {
    const set = aSet({ replicas, ...claims, ...policy })
    const others = [owner(set), owner(member(0, first))]
    const { changes } = planOf(statefulSetController, set, first, member(0, first), aClaim(others))
    // The claim has both owners, so each policy needs an update.
    const updates = changes.filter(({ of }) => of.kind === 'PersistentVolumeClaim')
    deepEqual(
      updates.map(({ object }) => ((object as ApiObject).metadata.ownerReferences ?? []).map(({ kind }) => kind)),
      [wanted],
    )
  })

const external = { apiVersion: 'v1', kind: 'ConfigMap', name: 'external', uid: 'external' }
const otherController = { ...external, controller: true }
const retained = aSet({ replicas: 1, ...claims, ...retention('Delete', 'Retain') })
const ownersBefore: [why: string, before: object[], after: string[] | undefined][] = [
  ['the set is added to an owner that is no controller', [external], ['ConfigMap', 'StatefulSet controller']],
  ['nothing is added to another controller', [otherController], undefined],
  ['the set leaves another controller', [otherController, owner(retained)], ['ConfigMap controller']],
  ['the set is the controller again', [{ ...owner(retained), controller: false }], ['StatefulSet controller']],
  ['an earlier set of the same name stays', [owner(retained, 'earlier')], undefined],
  ['the set stays', [owner(retained)], undefined],
]
for (const [why, before, after] of ownersBefore)
  test(`owners of a claim: ${why}`, () => {
    const { changes } = planOf(statefulSetController, retained, first, member(0, first), aClaim(before))
    const updates = changes.filter(({ of }) => of.kind === 'PersistentVolumeClaim')
    const shownOwners = updates.map(({ object }) =>
      ((object as ApiObject).metadata.ownerReferences ?? []).map(
        ({ kind, controller }) => `${kind}${controller === true ? ' controller' : ''}`,
      ),
    )
    deepEqual(shownOwners, after === undefined ? [] : [after])
  })

test('the status counts pods, and has the new revision when all pods have it', () => {
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
