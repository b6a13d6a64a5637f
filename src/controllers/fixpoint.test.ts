// A property of all plan controllers together: applying their plans repeatedly converges in a bounded number of rounds,
// and then changes nothing.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../base/time/clock.ts'
import { seededRandom, type Random } from '../base/random/random.ts'
import { controllerRevision } from '../api/apps/v1/controller-revision.ts'
import { daemonSet } from '../api/apps/v1/daemon-set.ts'
import { deployment } from '../api/apps/v1/deployment.ts'
import { replicaSet } from '../api/apps/v1/replica-set.ts'
import { statefulSet } from '../api/apps/v1/stateful-set.ts'
import { cronJob } from '../api/batch/v1/cron-job.ts'
import { job } from '../api/batch/v1/job.ts'
import { endpoints } from '../api/core/v1/service/endpoints.ts'
import { node } from '../api/core/v1/node/node.ts'
import { persistentVolume } from '../api/core/v1/volume/persistent-volume.ts'
import { persistentVolumeClaim } from '../api/core/v1/volume/persistent-volume-claim.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { replicationController } from '../api/core/v1/workload/replication-controller.ts'
import { service } from '../api/core/v1/service/service.ts'
import { validatingAdmissionPolicy } from '../api/admissionregistration/v1/validating-admission-policy.ts'
import { serviceCidr } from '../api/networking/v1/service-cidr.ts'
import { podDisruptionBudget } from '../api/policy/v1/pod-disruption-budget.ts'
import { clusterRole } from '../api/rbac/v1/cluster-role.ts'
import { resourceClaimTemplate } from '../api/resource/v1/resource-claim-template.ts'
import { resourceClaim } from '../api/resource/v1/resource-claim.ts'
import { volumeAttributesClass } from '../api/storage/v1/volume-attributes-class.ts'
import { endpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import type { Kind } from '../api/kind/kind.ts'
import { controllerOf, type ApiObject } from '../api/meta/object.ts'
import { controllers } from './controllers.ts'
import { made, PlanWorld } from './runtime/plan.harness.ts'
import { targetNode } from './daemon-set/node-placement.ts'
import { nextInt64 } from '../schema/scalar/int64.ts'

const roundsMax = 400
const restRounds = 5
const revisionedKinds = new Set(['DaemonSet', 'StatefulSet'])

const template = (app: string, image: number, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: {
    containers: [{ name: 'c', image: `image:${image}`, ports: [{ name: 'web', containerPort: 8080 }] }],
    ...spec,
  },
})

const selector = (app: string) => ({ matchLabels: { app } })

const nodes = (random: Random): ApiObject[] =>
  Array.from({ length: 1 + random.below(3) }, (_, index) =>
    made(node, `node-${index}`, {
      metadata: { labels: { 'topology.kubernetes.io/zone': `zone-${index % 2}` } },
      status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  )

function workloads(random: Random): ApiObject[] {
  const pick = (limit: number) => random.below(limit)
  return [
    made(deployment, 'web', {
      spec: {
        replicas: pick(5),
        selector: selector('web'),
        template: template('web', 1),
        strategy:
          pick(3) === 0 ? { type: 'Recreate' } : { rollingUpdate: { maxSurge: pick(3), maxUnavailable: 1 + pick(2) } },
        revisionHistoryLimit: pick(3),
      },
    }),
    made(replicaSet, 'set', { spec: { replicas: pick(4), selector: selector('set'), template: template('set', 1) } }),
    made(replicationController, 'rc', { spec: { replicas: pick(4), template: template('rc', 1) } }),
    made(statefulSet, 'db', {
      spec: {
        replicas: pick(4),
        serviceName: 'db',
        selector: selector('db'),
        template: template('db', 1),
        podManagementPolicy: pick(2) === 0 ? 'Parallel' : 'OrderedReady',
        ordinals: { start: pick(3) },
        updateStrategy: {
          rollingUpdate: { partition: pick(3), ...(pick(2) === 0 ? { maxUnavailable: 1 + pick(2) } : {}) },
        },
        persistentVolumeClaimRetentionPolicy: {
          whenDeleted: pick(2) === 0 ? 'Delete' : 'Retain',
          whenScaled: pick(2) === 0 ? 'Delete' : 'Retain',
        },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
      },
    }),
    made(daemonSet, 'agent', {
      spec: {
        selector: selector('agent'),
        template: template('agent', 1),
        updateStrategy: { rollingUpdate: pick(2) === 0 ? { maxSurge: 1, maxUnavailable: 0 } : { maxUnavailable: 1 } },
      },
    }),
    aJob('job', random),
    made(cronJob, 'tick', {
      metadata: { creationTimestamp: '2029-12-31T23:00:00Z' },
      spec: {
        schedule: '30 * * * *',
        jobTemplate: { spec: { template: template('tick', 1, { restartPolicy: 'Never' }) } },
      },
    }),
  ]
}

const claimsFromTemplates: readonly ApiObject[] = [
  made(resourceClaimTemplate, 'device', {
    spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } } },
  }),
  ...['a', 'b'].map((name) =>
    made(pod, `user-${name}`, {
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        resourceClaims: ['one', 'two'].map((claim) => ({ name: claim, resourceClaimTemplateName: 'device' })),
        volumes: [
          { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } } },
        ],
      },
    }),
  ),
]

function others(random: Random): ApiObject[] {
  const pick = (limit: number) => random.below(limit)
  return [
    made(podDisruptionBudget, 'web', { spec: { minAvailable: pick(3), selector: selector('web') } }),
    made(persistentVolume, 'volume', { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] } }),
    made(persistentVolumeClaim, 'spare', { spec: { accessModes: ['ReadWriteOnce'] } }),
    made(volumeAttributesClass, 'fast', { driverName: 'test' }),
    made(serviceCidr, 'more', { spec: { cidrs: ['10.99.0.0/24'] } }),
    made(clusterRole, 'all', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] } }),
    made(clusterRole, 'part', {
      metadata: { labels: { part: 'yes' } },
      rules: [{ verbs: ['get'], resources: ['pods'] }],
    }),
    made(validatingAdmissionPolicy, 'policy', { spec: { validations: [{ expression: 'true' }] } }),
    made(service, 'web', {
      metadata: pick(2) === 0 ? {} : { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'web' }] },
    }),
    made(service, 'hand', { spec: { ports: [{ port: 80 }] } }),
    made(endpoints, 'hand', { subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 80 }] }] }),
  ]
}

/** Random objects of every kind. */
const everyKind = (random: Random): ApiObject[] => [
  ...nodes(random),
  ...workloads(random),
  ...claimsFromTemplates,
  ...others(random),
]

function aJob(name: string, random: Random): ApiObject {
  const isIndexed = random.below(2) === 0
  return made(job, name, {
    metadata: { uid: `uid-${name}` },
    spec: {
      completions: 1 + random.below(4),
      parallelism: 1 + random.below(3),
      completionMode: isIndexed ? 'Indexed' : 'NonIndexed',
      backoffLimit: random.below(4),
      ...(isIndexed && random.below(2) === 0 ? { backoffLimitPerIndex: 1 } : {}),
      selector: { matchLabels: { app: name } },
      template: template(name, 1, { restartPolicy: 'Never' }),
    },
  })
}

/** Pods are scheduled, run and become ready; those of Jobs succeed or fail. */
function live(world: PlanWorld, random: Random): void {
  for (const object of world.all(pod)) {
    if (random.below(3) === 0) continue
    const isWork = controllerOf(object)?.kind === 'Job'
    const [phase, isReady] =
      object.status.phase !== 'Running'
        ? ['Running', true]
        : isWork
          ? [random.below(4) === 0 ? 'Failed' : 'Succeeded', false]
          : ['Running', true]
    if (object.status.phase === 'Succeeded' || object.status.phase === 'Failed') continue
    const nodeName = object.spec.nodeName ?? targetNode(object) ?? 'node-0'
    const next: Pod = {
      ...object,
      spec: { ...object.spec, nodeName },
      status: {
        ...object.status,
        phase: phase as 'Running',
        podIP: object.status.podIP ?? `10.0.0.${1 + random.below(250)}`,
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: rfc3339(world.nowMs) }],
      },
    }
    world.put(next)
  }
}

/** A new image and another number of replicas. */
function change(world: PlanWorld, random: Random): void {
  for (const kind of [deployment, statefulSet, daemonSet] as unknown as Kind[])
    for (const object of world.all(kind)) {
      const { spec, metadata } = object as ApiObject & { spec: { replicas?: number } }
      const app =
        Object.values(
          (spec as unknown as { selector: { matchLabels: Record<string, string> } }).selector.matchLabels,
        )[0] ?? ''
      const changed = made(kind, metadata.name, {
        ...object,
        metadata: { ...metadata, generation: nextInt64(metadata.generation ?? 1) },
        spec: {
          ...spec,
          ...(spec.replicas === undefined ? {} : { replicas: random.below(5) }),
          template: template(app, 2 + random.below(2)),
        },
      })
      world.put(changed)
    }
}

function settle(world: PlanWorld, random: Random, seed: number): void {
  let quiet = 0
  for (let round = 0; quiet < restRounds; round++) {
    ok(round < roundsMax, `seed ${seed} does not converge`)
    world.nowMs += 20_000
    let changes = 0
    for (const controller of controllers) changes += world.step(controller)
    quiet = changes === 0 ? quiet + 1 : 0
    live(world, random)
  }
}

test('all plans converge for random objects, and after every change of them', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seededRandom(seed)
    const world = new PlanWorld(...everyKind(random))
    for (const controller of controllers)
      if (controller.type === 'plan')
        ok(world.all(controller.reconciles).length > 0, `there is no object for ${controller.name}`)
    settle(world, random, seed)
    change(world, random)
    settle(world, random, seed)
    for (const object of world.all(deployment)) {
      const owned = world.all(replicaSet).filter((set) => controllerOf(set)?.uid === object.metadata.uid)
      equal(
        owned.reduce((sum, set) => sum + set.spec.replicas, 0),
        object.spec.replicas,
        `seed ${seed}`,
      )
    }
    for (const object of world.all(statefulSet))
      equal(object.status.readyReplicas ?? 0, object.spec.replicas, `seed ${seed}`)
    for (const object of world.all(daemonSet))
      equal(object.status.updatedNumberScheduled, world.all(node).length, `seed ${seed}`)
    for (const object of world.all(job))
      ok((object.status.conditions ?? []).length >= 2, `seed ${seed}: ${object.metadata.name} ended`)
    for (const object of world.all(job)) equal(object.status.active ?? 0, 0)
    deepEqual(new Set(world.all(controllerRevision).map((each) => controllerOf(each)?.kind)), revisionedKinds)
    for (const { metadata } of world.all(pod).filter((each) => controllerOf(each)?.kind === 'StatefulSet'))
      ok(
        world.get(persistentVolumeClaim, `default/data-${metadata.name}`),
        `seed ${seed}: ${metadata.name} has its claim`,
      )
    for (const name of ['user-a-scratch', 'user-b-scratch'])
      ok(world.get(persistentVolumeClaim, `default/${name}`), `seed ${seed}: ${name} exists`)
    equal(world.all(endpointSlice).length, 2, `seed ${seed}`)
    equal(world.all(endpoints).length, 2, `seed ${seed}`)
    equal(world.all(resourceClaim).length, 4, `seed ${seed}`)
    equal(world.all(cronJob)[0]?.status.active, undefined, `seed ${seed}`)
  }
})
