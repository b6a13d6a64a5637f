// Tables for the plans, and a property: planning and applying again and again comes to rest, within the bounds.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../base/clock.ts'
import { context } from '../base/context.ts'
import { Metrics } from '../base/metrics.ts'
import { seededRandom } from '../base/random.ts'
import { deployment, type Deployment } from '../api/apps/v1/deployment.ts'
import { replicaSet, type ReplicaSet } from '../api/apps/v1/replica-set.ts'
import { configMap } from '../api/core/v1/config-map.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { pod, type Pod } from '../api/core/v1/pod.ts'
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'
import { startCluster } from '../cluster/start-cluster.ts'
import { decode } from '../schema/decode.ts'
import { withDefaults } from '../schema/defaults.ts'
import type { Change, PlanController, PlanView } from './controller.ts'
import { controllers } from './controllers.ts'
import { deploymentController } from './deployment/deployment.ts'
import { templateHash } from './deployment/replica-sets.ts'
import { Expectations } from './expectations.ts'
import { replicaSetController } from './replica-set.ts'
import { controllerMetrics } from './runtime.ts'

const nowMs = Date.UTC(2030, 0, 1)
const labels = { app: 'web' }
let serial = 0

function made<T extends ApiObject>(kind: Kind<T>, name: string, body: object): T {
  const { metadata = {}, ...rest } = body as { metadata?: object }
  const full = {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: String(++serial),
      creationTimestamp: rfc3339(nowMs + serial * 1000),
      generation: 1,
      ...metadata,
    },
    ...rest,
  }
  return kind.applyDefaults(
    withDefaults(kind.message, {
      ...decode(kind.message, full).value,
      apiVersion: kind.apiVersion,
      kind: kind.kind,
    } as unknown as T),
  )
}

const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })
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

const view = (...owned: ApiObject[]): PlanView => ({
  nowMs,
  owned: <T extends ApiObject>(kind: Kind<T>) => owned.filter(({ kind: name }) => name === kind.kind) as unknown as T[],
})
const plan = <T extends ApiObject>(controller: unknown, object: T, ...owned: ApiObject[]) =>
  (controller as PlanController<T>).plan(object, view(...owned))

const shown = (changes: readonly Change[]): string[] =>
  changes.map((change) => {
    const { metadata, spec } = change.object as {
      metadata: { name?: string; generateName?: string }
      spec?: { replicas?: number }
    }
    return `${change.kind} ${change.of.singular} ${metadata.name ?? metadata.generateName}${spec?.replicas === undefined ? '' : ` ×${spec.replicas}`}`
  })

test('the controllers are listed and know their names', () => {
  deepEqual(
    controllers.map(({ name }) => name),
    ['deployment', 'garbage-collector', 'namespace', 'replica-set', 'service-account'],
  )
  controllerMetrics(new Metrics()).depth.set({ name: 'x' }, 1)
})

const aPod = (
  name: string,
  {
    ready = true,
    phase = 'Running',
    nodeName = 'n',
    ...metadata
  }: { ready?: boolean; phase?: string; nodeName?: string } & Record<string, unknown> = {},
): Pod =>
  made(pod, name, {
    metadata: { labels, ...metadata },
    spec: { containers: [{ name: 'c', image: '1' }], ...(nodeName === '' ? {} : { nodeName }) },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: rfc3339(nowMs - 60_000) }],
    },
  })

const replicaSets: [why: string, want: number, have: Pod[], changes: string[]][] = [
  ['creates what is missing', 2, [aPod('a')], ['create pod web-']],
  ['is content', 1, [aPod('a')], []],
  ['removes the surplus', 1, [aPod('a'), aPod('b')], ['delete pod b']],
  [
    'removes the unassigned first',
    1,
    [aPod('a', { nodeName: '', ready: false, phase: 'Pending' }), aPod('b')],
    ['delete pod a'],
  ],
  [
    'removes the pending before the running',
    1,
    [aPod('a'), aPod('b', { phase: 'Pending', ready: false })],
    ['delete pod b'],
  ],
  ['removes the unready before the ready', 1, [aPod('a'), aPod('b', { ready: false })], ['delete pod b']],
  [
    'removes the cheap before the dear',
    1,
    [aPod('a', { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } }), aPod('b')],
    ['delete pod a'],
  ],
  ['does not count what is ending', 1, [aPod('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })], ['create pod web-']],
  ['does not count what has finished', 1, [aPod('a', { phase: 'Failed', ready: false })], ['create pod web-']],
]
for (const [why, want, have, changes] of replicaSets)
  test(`a ReplicaSet ${why}`, () =>
    deepEqual(shown(plan(replicaSetController, aSet('web', '1', want, 0), ...have).changes), changes))

test('a ReplicaSet counts in its status, and waits for availability', () => {
  const set = aSet('web', '1', 3, 0)
  const waiting = { ...set, spec: { ...set.spec, minReadySeconds: 90 } }
  const { status, requeueAfterMs } = plan(
    replicaSetController,
    waiting,
    aPod('a'),
    aPod('b', { ready: false }),
    aPod('c', { deletionTimestamp: '2030-01-01T00:00:00Z' }),
  )
  deepEqual(status, {
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 1,
    observedGeneration: 1,
    terminatingReplicas: 1,
  })
  equal(requeueAfterMs, 30_000)
  const [made] = plan(replicaSetController, set).changes
  equal(made?.kind === 'create' && made.tell?.(aPod('x')).message, 'Created pod: x')
  deepEqual(
    plan(replicaSetController, { ...set, metadata: { ...set.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } })
      .changes,
    [],
  )
})

const annotated = { 'deployment.kubernetes.io/desired-replicas': '3', 'deployment.kubernetes.io/max-replicas': '4' }
const rev = (n: number) => ({ ...annotated, 'deployment.kubernetes.io/revision': String(n) })
const known = (n: number, spec: object = {}) =>
  aDeployment(spec, { metadata: { annotations: { 'deployment.kubernetes.io/revision': String(n) } } })
const hash = templateHash(aDeployment().spec.template, 0)

const rollouts: [why: string, object: Deployment, sets: ReplicaSet[], changes: string[]][] = [
  [
    'makes its first ReplicaSet in full',
    aDeployment(),
    [],
    ['update deployment web ×3', `create replicaset web-${hash} ×3`],
  ],
  ['is content', known(1), [aSet('a', '1', 3, 3, rev(1))], []],
  [
    'makes the next one within the surge',
    known(1, { template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1))],
    [
      'update deployment web ×3',
      `create replicaset web-${templateHash(aDeployment({ template: template('2') }).spec.template, 0)} ×1`,
    ],
  ],
  [
    'takes one old away when one new is there',
    known(2, { template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset a ×2'],
  ],
  [
    'waits while the new one is not available',
    known(2, { template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1)), aSet('b', '2', 1, 0, rev(2))],
    [],
  ],
  [
    'removes unhealthy old ones even then',
    known(2, { template: template('2') }),
    [aSet('a', '1', 3, 2, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset a ×2'],
  ],
  [
    'adds the next new one',
    known(2, { template: template('2') }),
    [aSet('a', '1', 2, 2, rev(1)), aSet('b', '2', 1, 1, rev(2))],
    ['update replicaset b ×2'],
  ],
  [
    'goes back to an old template without a new ReplicaSet',
    known(2),
    [aSet('a', '1', 0, 0, rev(1)), aSet('b', '2', 3, 3, rev(2))],
    ['update deployment web ×3', 'update replicaset a ×0'],
  ],
  ['scales', known(1, { replicas: 5 }), [aSet('a', '1', 3, 3, rev(1))], ['update replicaset a ×5']],
  ['scales down to nothing', known(1, { replicas: 0 }), [aSet('a', '1', 3, 3, rev(1))], ['update replicaset a ×0']],
  [
    'shares a scaling in the middle of a rollout',
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
    'recreates: first everything old goes',
    known(1, { strategy: { type: 'Recreate' }, template: template('2') }),
    [aSet('a', '1', 3, 3, rev(1))],
    ['update deployment web ×3', 'update replicaset a ×0'],
  ],
  [
    'forgets history beyond its limit',
    known(4, { revisionHistoryLimit: 1, template: template('4') }),
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
  test(`a Deployment ${why}`, () => deepEqual(shown(plan(deploymentController, object, ...sets).changes), changes))

test('a Deployment tells its progress in conditions', () => {
  const conditions = (object: Deployment, ...sets: ReplicaSet[]) =>
    ((plan(deploymentController, object, ...sets).status as Deployment['status']).conditions ?? []).map(
      ({ type, status, reason }) => `${type} ${status} ${reason}`,
    )
  deepEqual(conditions(aDeployment(), aSet('a', '1', 3, 0, rev(1))), [
    'Available False MinimumReplicasUnavailable',
    'Progressing True NewReplicaSetCreated',
  ])
  deepEqual(conditions(aDeployment(), aSet('a', '1', 3, 3, rev(1))), [
    'Available True MinimumReplicasAvailable',
    'Progressing True NewReplicaSetAvailable',
  ])
  const stuck = (seconds: number) =>
    aDeployment(
      {},
      {
        status: {
          replicas: 3,
          updatedReplicas: 3,
          conditions: [
            {
              type: 'Progressing',
              status: 'True',
              reason: 'ReplicaSetUpdated',
              message: 'm',
              lastUpdateTime: rfc3339(nowMs - seconds * 1000),
              lastTransitionTime: rfc3339(nowMs),
            },
          ],
        },
      },
    )
  match(conditions(stuck(601), aSet('a', '1', 3, 0, rev(1))).join(), /Progressing False ProgressDeadlineExceeded/)
  match(conditions(stuck(599), aSet('a', '1', 3, 0, rev(1))).join(), /Progressing True ReplicaSetUpdated/)
  equal(plan(deploymentController, stuck(599), aSet('a', '1', 3, 0, rev(1))).requeueAfterMs, 2000)
})

test('expectations hold a key back until the cache has seen the writes', () => {
  const cache = new Map<string, ApiObject>()
  const informer = { revision: 5, get: (key: string) => cache.get(key) } as never as Parameters<
    Expectations['expect']
  >[1]['informer'] & { revision: number }
  const expectations = new Expectations()
  const written = { ...aPod('a'), metadata: { ...aPod('a').metadata, resourceVersion: '7' } }
  expectations.expect('k', { informer, object: written, kind: 'written' })
  equal(expectations.areMet('k'), false)
  cache.set('default/a', written)
  equal(expectations.areMet('k'), true)
  expectations.expect('k', { informer, object: written, kind: 'deleted' })
  equal(expectations.areMet('k'), false)
  cache.delete('default/a')
  equal(expectations.areMet('k'), true)
  cache.set('default/a', written)
  expectations.expect('k', { informer, object: written, kind: 'deleted' })
  expectations.forget('k')
  equal(expectations.areMet('k'), true)
})

/** Applies a plan of the Deployment controller to a model of its ReplicaSets, as the API server would. */
function applied(
  object: Deployment,
  sets: ReplicaSet[],
  changes: readonly Change[],
): { object: Deployment; sets: ReplicaSet[] } {
  let [next, all] = [object, sets]
  for (const change of changes) {
    const target = change.object as ReplicaSet & Deployment
    if (change.of.plural === 'deployments') next = target
    else if (change.kind === 'create') all = [...all, made(replicaSet, target.metadata.name, target)]
    else if (change.kind === 'delete') all = all.filter(({ metadata }) => metadata.uid !== target.metadata.uid)
    else all = all.map((set) => (set.metadata.uid === target.metadata.uid ? target : set))
  }
  return { object: next, sets: all }
}

test('planning and applying comes to rest in bounded steps, within surge and availability, for random Deployments', () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = seededRandom(seed)
    const replicas = random.below(12)
    const pick = () => (random.below(2) === 0 ? random.below(4) : `${random.below(101)}%`)
    const [maxSurge, maxUnavailable] = [pick(), pick()]
    let object = aDeployment({
      replicas,
      strategy: { rollingUpdate: { maxSurge: maxSurge === 0 || maxSurge === '0%' ? 1 : maxSurge, maxUnavailable } },
    })
    let sets: ReplicaSet[] = []
    const { surge, unavailable } = {
      surge: resolve(object.spec.strategy.rollingUpdate?.maxSurge ?? 0, replicas, Math.ceil),
      unavailable: resolve(maxUnavailable, replicas, Math.floor),
    }
    let steps = 0
    let restedOnce = false
    for (let round = 0; round < 3; round++) {
      object = {
        ...object,
        spec: {
          ...object.spec,
          template: {
            ...object.spec.template,
            spec: {
              ...object.spec.template.spec,
              containers: [{ ...object.spec.template.spec.containers[0], image: String(round) }],
            },
          },
        },
      } as Deployment
      for (let idle = 0; idle < 3;) {
        ok(++steps < 500, `seed ${seed} does not come to rest`)
        const { changes } = plan(deploymentController, object, ...sets)
        ;({ object, sets } = applied(object, sets, changes))
        const total = sets.reduce((sum, { spec }) => sum + spec.replicas, 0)
        ok(total <= replicas + surge, `seed ${seed}: ${total} replicas, at most ${replicas + surge} are allowed`)
        const availableNow = sets.reduce(
          (sum, { spec, status }) => sum + Math.min(spec.replicas, status.availableReplicas ?? 0),
          0,
        )
        if (restedOnce)
          ok(
            availableNow >= replicas - unavailable,
            `seed ${seed}: ${availableNow} available, at least ${replicas - unavailable} must be`,
          )
        idle = changes.length === 0 ? idle + 1 : 0
        // Pods become available at their own pace, but in the end they do.
        sets = sets.map((set) => {
          const before = Math.min(set.spec.replicas, set.status.availableReplicas ?? 0)
          const grown = idle > 0 || random.below(2) === 0 ? set.spec.replicas : before
          return {
            ...set,
            status: {
              ...set.status,
              replicas: set.spec.replicas,
              availableReplicas: grown,
              observedGeneration: set.metadata.generation ?? 0,
            },
          }
        })
      }
      restedOnce = true
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

const ctx = context(new AbortController().signal)
const owner = (object: ApiObject, extra: object = {}) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...extra,
})

test('the garbage collector: background, orphan, foreground, several owners, owners that never were', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const make = (name: string, ...owners: object[]) =>
    maps.create({ metadata: { name, ownerReferences: owners as never } }, 'default', ctx)
  const names = async () => (await maps.list({ namespace: 'default' }, ctx)).items.map(({ metadata }) => metadata.name)
  const settle = () => cluster.clock.advance('10s')

  const a = await make('a')
  const b = await make('b')
  await make('of-a', owner(a))
  const both = await make('of-both', owner(a), owner(b))
  await make('of-of-both', owner(both))
  await make('of-nobody', owner({ ...a, metadata: { ...a.metadata, uid: 'never-was' } }))
  await settle()
  deepEqual(await names(), ['a', 'b', 'of-a', 'of-both', 'of-of-both'], 'an owner that never was counts as gone')
  await maps.delete('a', 'default', {}, ctx)
  await settle()
  deepEqual(await names(), ['b', 'of-both', 'of-of-both'])
  await maps.delete('b', 'default', { propagationPolicy: 'Orphan' }, ctx)
  await settle()
  deepEqual(await names(), ['of-both', 'of-of-both'], 'orphans stay')
  equal(
    (await maps.get('of-both', 'default', ctx)).metadata.ownerReferences?.some(({ uid }) => uid === b.metadata.uid) ??
      false,
    false,
  )

  const parent = await make('parent')
  const child = await make('child', owner(parent, { blockOwnerDeletion: true }))
  await maps.update({ ...child, metadata: { ...child.metadata, finalizers: ['test/hold'] } }, ctx)
  await maps.delete('parent', 'default', { propagationPolicy: 'Foreground' }, ctx)
  await settle()
  const held = await maps.get('parent', 'default', ctx)
  deepEqual(
    [held.metadata.finalizers, (await maps.get('child', 'default', ctx)).metadata.deletionTimestamp !== undefined],
    [['foregroundDeletion'], true],
    'the parent waits for its child',
  )
  await maps.patch('child', 'default', { metadata: { finalizers: null } }, 'merge', ctx)
  await settle()
  deepEqual(
    (await names()).filter((name) => name === 'parent' || name === 'child'),
    [],
  )
})

test('a namespace that ends takes its content along, gracefully, and then goes', async () => {
  await using cluster = await startCluster()
  const { client, clock } = cluster
  await client.of(namespace).create({ metadata: { name: 'team' } }, '', ctx)
  await client.of(configMap).create({ metadata: { name: 'held', finalizers: ['test/hold'] } }, 'team', ctx)
  await client
    .of(deployment)
    .create(
      { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template: template('1') } },
      'team',
      ctx,
    )
  await clock.advance('5s')
  equal((await client.of(pod).list({ namespace: 'team' }, ctx)).items.length, 2)
  await client.of(namespace).delete('team', '', {}, ctx)
  await clock.advance('2m')
  equal((await client.of(namespace).get('team', '', ctx)).status.phase, 'Terminating', 'a finalizer in it holds it')
  equal((await client.of(pod).list({ namespace: 'team' }, ctx)).items.length, 0)
  await client.of(configMap).patch('held', 'team', { metadata: { finalizers: null } }, 'merge', ctx)
  await clock.advance('5s')
  equal(await client.of(namespace).find('team', '', ctx), undefined)
})
