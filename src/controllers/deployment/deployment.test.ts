// Tables for the plans of Deployments, and a property: applying plans repeatedly converges, within surge and
// availability.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import { seededRandom, type Random } from '../../base/random/random.ts'
import { deployment, type Deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet, type ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import type { Change } from '../runtime/controller.ts'
import { firstObject, labels, made, nowMs, planOf, shown, template } from '../runtime/plan.harness.ts'
import { templateHash } from '../workload/template-hash.ts'
import { deploymentController } from './deployment.ts'

const aDeployment = (spec: object = {}, body: object = {}) =>
  made(deployment, 'web', {
    spec: { replicas: 3, selector: { matchLabels: labels }, template: template('1'), ...spec },
    ...body,
  })
const aSet = (name: string, image: string, replicas: number, available: number, annotations: object = {}) =>
  made(replicaSet, name, {
    metadata: { annotations },
    spec: { replicas, selector: { matchLabels: labels }, template: template(image) },
    status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1 },
  })

const annotated = { 'deployment.kubernetes.io/desired-replicas': '3', 'deployment.kubernetes.io/max-replicas': '4' }
const rev = (n: number) => ({ ...annotated, 'deployment.kubernetes.io/revision': String(n) })
const complete = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 1 }
const stranger = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other', uid: 'o', controller: true }
const known = (n: number, spec: object = {}, status: object = {}) =>
  aDeployment(spec, { status, metadata: { annotations: { 'deployment.kubernetes.io/revision': String(n) } } })
const hash = templateHash(aDeployment().spec.template)

const rollouts: [why: string, object: Deployment, sets: ReplicaSet[], changes: string[]][] = [
  ['creates its first ReplicaSet with all replicas', aDeployment(), [], [`create replicaset web-${hash} ×3`]],
  ['that is complete is not changed', known(1), [aSet('a', '1', 3, 3, rev(1))], []],
  [
    'creates the next ReplicaSet within the surge',
    known(1, { template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1))],
    [`create replicaset web-${templateHash(aDeployment({ template: template('2') }).spec.template)} ×1`],
  ],
  [
    'removes an old replica when a new one is available',
    known(2, { template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset a ×2'],
  ],
  [
    'waits while the new replica is not available',
    known(2, { template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1)), aSet('b', '2', 1, 0, rev(2))],
    [],
  ],
  [
    'removes an unhealthy old replica, although no available one may be removed',
    known(2, { template: template('2') }),
    [aSet('a', '1', 3, 2, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset a ×2'],
  ],
  [
    'adds the next new replica',
    known(2, { template: template('2') }),
    [aSet('a', '1', 2, 2, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset b ×2'],
  ],
  [
    'reuses the ReplicaSet of an earlier template',
    known(2),
    [aSet('a', '1', 0, 0, rev(1)), aSet('b', '2', 3, 3, rev(2))],
    ['update deployment web ×3', 'update replicaset a ×0'],
  ],
  ['scales', known(1, { replicas: 5 }), [aSet('a', '1', 3, 3, rev(1))], ['update replicaset a ×5']],
  ['scales down to nothing', known(1, { replicas: 0 }), [aSet('a', '1', 3, 3, rev(1))], ['update replicaset a ×0']],
  [
    'scales all ReplicaSets in proportion during a rollout',
    known(2, { replicas: 10, template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset a ×10', 'update replicaset b ×3'],
  ],
  [
    'does not roll while paused',
    known(1, { paused: true, template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1))],
    [],
  ],
  [
    'with the strategy Recreate first removes all old replicas',
    known(1, { strategy: { type: 'Recreate' }, template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1))],
    ['update replicaset a ×0'],
  ],
  [
    'with the strategy Recreate waits until the last old pod is gone',
    known(1, { strategy: { type: 'Recreate' }, template: template('2') }),
    [{ ...aSet('a', '1', 0, 0, rev(1)), status: { replicas: 0, terminatingReplicas: 1 } }],
    [],
  ],
  [
    'with the strategy Recreate then creates all new replicas',
    known(1, { strategy: { type: 'Recreate' }, template: template('2') }),
    [aSet('a', '1', 0, 0, rev(1))],
    [`create replicaset web-${templateHash(aDeployment({ template: template('2') }).spec.template)} ×3`],
  ],
  [
    'scales while paused',
    known(1, { paused: true, replicas: 5, template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1))],
    ['update replicaset a ×5'],
  ],
  [
    'copies the revision of the ReplicaSet that it reuses',
    known(2),
    [aSet('a', '1', 3, 3, rev(3)), aSet('b', '2', 0, 0, rev(2))],
    ['update deployment web ×3'],
  ],
  [
    'creates nothing while another object has the name of its ReplicaSet',
    known(1),
    [made(replicaSet, `web-${hash}`, { metadata: { ownerReferences: [stranger] }, spec: aSet('x', '9', 1, 1).spec })],
    [],
  ],
  [
    'deletes ReplicaSets beyond its history limit',
    known(4, { revisionHistoryLimit: 1, template: template('4') }, complete),
    [
      aSet('a', '1', 0, 0, rev(1)),
      aSet('b', '2', 0, 0, rev(2)),
      aSet('c', '3', 0, 0, rev(3)),
      aSet('d', '4', 3, 3, rev(4)),
    ],
    ['delete replicaset a ×0', 'delete replicaset b ×0'],
  ],
]
for (const [why, object, sets, changes] of rollouts)
  test(`a Deployment ${why}`, () => deepEqual(shown(planOf(deploymentController, object, ...sets).changes), changes))

const conditionsOf = (object: Deployment, ...sets: ReplicaSet[]): string[] =>
  ((planOf(deploymentController, object, ...sets).status as Deployment['status']).conditions ?? []).map(
    ({ type, status, reason }) => `${type} ${status} ${reason}`,
  )

const progress: [why: string, object: Deployment, sets: ReplicaSet[], conditions: string[]][] = [
  [
    'is created',
    aDeployment(),
    [],
    ['Progressing True NewReplicaSetCreated', 'Available False MinimumReplicasUnavailable'],
  ],
  [
    'finds a ReplicaSet with its template',
    aDeployment(),
    [aSet('a', '1', 0, 0, rev(1))],
    ['Progressing True FoundNewReplicaSet', 'Available False MinimumReplicasUnavailable'],
  ],
  [
    'has new pods that are not available',
    aDeployment(),
    [aSet('a', '1', 3, 0, rev(1))],
    ['Available False MinimumReplicasUnavailable', 'Progressing True ReplicaSetUpdated'],
  ],
  [
    'is paused',
    aDeployment({ paused: true }),
    [aSet('a', '1', 3, 3, rev(1))],
    ['Progressing Unknown DeploymentPaused', 'Available True MinimumReplicasAvailable'],
  ],
  [
    'has no progress deadline',
    aDeployment({ progressDeadlineSeconds: 2_147_483_647 }),
    [aSet('a', '1', 3, 3, rev(1))],
    ['Available True MinimumReplicasAvailable'],
  ],
  [
    'is complete',
    aDeployment(),
    [aSet('a', '1', 3, 3, rev(1))],
    ['Available True MinimumReplicasAvailable', 'Progressing True NewReplicaSetAvailable'],
  ],
]
for (const [why, object, sets, conditions] of progress)
  test(`conditions of a Deployment that ${why}`, () => deepEqual(conditionsOf(object, ...sets), conditions))

test('the failure of a ReplicaSet is a condition of its Deployment', () => {
  const set = aSet('a', '1', 3, 0, rev(1))
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }
  const failing = { ...set, status: { ...set.status, conditions: [failure] } }
  match(conditionsOf(aDeployment(), failing).join(), /ReplicaFailure True FailedCreate/)
})

test('a rollout without progress times out after the deadline, and is requeued for it', () => {
  const updatedAgo = (seconds: number) => ({
    type: 'Progressing',
    status: 'True',
    reason: 'ReplicaSetUpdated',
    message: 'm',
    lastUpdateTime: rfc3339(nowMs - seconds * 1000),
    lastTransitionTime: rfc3339(nowMs),
  })
  const stuck = (seconds: number) =>
    aDeployment({}, { status: { replicas: 3, updatedReplicas: 3, conditions: [updatedAgo(seconds)] } })
  const set = aSet('a', '1', 3, 0, rev(1))
  match(conditionsOf(stuck(601), set).join(), /Progressing False ProgressDeadlineExceeded/)
  match(conditionsOf(stuck(599), set).join(), /Progressing True ReplicaSetUpdated/)
  equal(planOf(deploymentController, stuck(599), set).requeueAfterMs, 2000)
})

test('the status after a failed creation and after a name collision', () => {
  const failed = planOf(deploymentController, aDeployment()).statusOnFailure?.(new Error('no')) as Deployment['status']
  deepEqual(failed.conditions?.[0]?.message, `Failed to create new replica set "web-${hash}": no`)
  const collided = made(replicaSet, `web-${hash}`, { spec: aSet('x', '9', 1, 1).spec })
  const other = { ...collided, metadata: { ...collided.metadata, ownerReferences: [stranger] } }
  equal((planOf(deploymentController, aDeployment(), other).status as Deployment['status']).collisionCount, 1)
})

/** Applies a plan of the Deployment controller to a model of its ReplicaSets. */
function applied(
  object: Deployment,
  sets: ReplicaSet[],
  changes: readonly Change[],
): { object: Deployment; sets: ReplicaSet[] } {
  let next = object
  let all = sets
  for (const change of changes) {
    const target = change.object as ReplicaSet & Deployment
    if (change.of.plural === 'deployments') next = target
    else if (change.kind === 'create') all = [...all, made(replicaSet, target.metadata.name, target)]
    else if (change.kind === 'delete') all = all.filter(({ metadata }) => metadata.uid !== target.metadata.uid)
    else all = all.map((set) => (set.metadata.uid === target.metadata.uid ? target : set))
  }
  return { object: next, sets: all }
}

const withImage = (object: Deployment, image: string): Deployment => {
  const { template: old } = object.spec
  const containers = [{ ...old.spec.containers[0], image }]
  return {
    ...object,
    spec: { ...object.spec, template: { ...old, spec: { ...old.spec, containers } } },
  } as Deployment
}

/** Pods become available at random times, but eventually. */
const withAvailability = (set: ReplicaSet, isLate: boolean, random: Random): ReplicaSet => {
  const { replicas } = set.spec
  const before = Math.min(replicas, set.status.availableReplicas ?? 0)
  const availableReplicas = isLate || random.below(2) === 0 ? replicas : before
  return {
    ...set,
    status: { ...set.status, replicas, availableReplicas, observedGeneration: set.metadata.generation ?? 0 },
  }
}

const randomDeployment = (random: Random): Deployment => {
  const pick = () => (random.below(2) === 0 ? random.below(4) : `${random.below(101)}%`)
  const replicas = random.below(12)
  const maxSurge = pick()
  const maxUnavailable = pick()
  const rollingUpdate = { maxSurge: maxSurge === 0 || maxSurge === '0%' ? 1 : maxSurge, maxUnavailable }
  return aDeployment({ replicas, strategy: { rollingUpdate } })
}

test('plans for random Deployments converge in bounded steps, within surge and availability', () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = seededRandom(seed)
    let object = randomDeployment(random)
    let sets: ReplicaSet[] = []
    const { replicas, strategy } = object.spec
    const most = replicas + resolve(strategy.rollingUpdate?.maxSurge ?? 0, replicas, Math.ceil)
    const least = replicas - resolve(strategy.rollingUpdate?.maxUnavailable ?? 0, replicas, Math.floor)
    let steps = 0
    for (let round = 0; round < 3; round++) {
      object = withImage(object, String(round))
      for (let idle = 0; idle < 3;) {
        ok(++steps < 500, `seed ${seed} does not converge`)
        const { changes } = planOf(deploymentController, object, ...sets)
        ;({ object, sets } = applied(object, sets, changes))
        const total = sets.reduce((sum, { spec }) => sum + spec.replicas, 0)
        ok(total <= most, `seed ${seed}: ${total} replicas, at most ${most} are allowed`)
        const available = sets.reduce(
          (sum, { spec, status }) => sum + Math.min(spec.replicas, status.availableReplicas ?? 0),
          0,
        )
        // The first rollout starts without pods.
        if (round > 0) ok(available >= least, `seed ${seed}: ${available} available, at least ${least} must be`)
        idle = changes.length === 0 ? idle + 1 : 0
        const isIdle = idle > 0
        sets = sets.map((set) => withAvailability(set, isIdle, random))
      }
      equal(
        sets.filter(({ spec }) => spec.replicas > 0).length,
        replicas === 0 ? 0 : 1,
        `seed ${seed} ends with one ReplicaSet`,
      )
    }
  }
})

const resolve = (value: number | string, total: number, rounding: (exact: number) => number): number =>
  typeof value === 'number' ? value : rounding((Number.parseInt(value, 10) * total) / 100)

const revisions: [text: string, next: string][] = [
  ['3546343826724305832', '3546343826724305833'],
  ['9223372036854775806', '9223372036854775807'],
  ['+7', '8'],
  ['9223372036854775808', '1'],
  ['1e3', '1'],
  ['', '1'],
]
for (const [text, next] of revisions)
  test(`the revision after ${JSON.stringify(text)} is ${next}`, () => {
    const old = aSet('a', '1', 3, 3, { ...annotated, 'deployment.kubernetes.io/revision': text })
    const plan = planOf(deploymentController, known(1, { template: template('2') }), old)
    const { metadata } = firstObject<{ metadata: { annotations: Record<string, string> } }>(plan)
    equal(metadata.annotations['deployment.kubernetes.io/revision'], next)
  })
