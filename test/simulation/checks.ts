// Invariants that hold after every step, and conditions that hold at the end.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { isPodReady } from '../../src/api/core/v1/pod/pod-readiness.ts'
import { storedKinds } from '../../src/api/kinds.ts'
import { controllerOf, isBeingDeleted } from '../../src/api/meta/object.ts'
import { daemonSet, deployment, job, namespace, pod, replicaSet, statefulSet } from '../../src/cluster/index.ts'
import { isSettled, listOf, nodeCount, steady, work, type World } from './world.ts'

/** Safety: holds at any moment, whatever has failed. */
export async function checkSafety(world: World): Promise<void> {
  const pods = await listOf(world, pod)
  const sets = await listOf(world, replicaSet)
  if (pods === undefined || sets === undefined) return
  const alive = pods.filter(
    (each) => !isBeingDeleted(each) && !['Succeeded', 'Failed'].includes(each.status.phase ?? ''),
  )
  const ofSteady = sets.filter((set) => controllerOf(set)?.name === 'steady').map(({ metadata }) => metadata.uid)
  const running = alive.filter((each) => ofSteady.includes(controllerOf(each)?.uid ?? ''))
  const most = steady.replicas + steady.maxSurge
  ok(running.length <= most, `${running.length} pods of the steady Deployment, at most ${most} are allowed`)
  const available = running.filter(isPodReady).length
  if (available === steady.replicas && isSettled(world)) world.isDisturbed = false
  const least = steady.replicas - steady.maxUnavailable
  ok(
    world.isDisturbed || available >= least,
    `${available} pods of the steady Deployment are available, at least ${least} must be`,
  )
  unique(
    'an ordinal of the StatefulSet',
    alive
      .filter((each) => each.metadata.labels?.['app'] === 'db')
      .map((each) => each.metadata.labels?.['apps.kubernetes.io/pod-index']),
  )
  // A pod that waits on a dead node is not a second one on another node.
  unique(
    'a node of the DaemonSet',
    alive
      .filter((each) => each.metadata.labels?.['app'] === 'agent' && isPodReady(each))
      .map(({ spec }) => spec.nodeName),
  )
  const workers = pods.filter((each) => controllerOf(each)?.name === 'work')
  unique(
    'an index of the Job',
    workers
      .filter((each) => alive.includes(each))
      .map((each) => each.metadata.annotations?.['batch.kubernetes.io/job-completion-index']),
  )
  for (const { metadata, status } of workers) if (status.phase === 'Succeeded') world.ended.add(metadata.uid)
}

function unique(what: string, values: readonly (string | undefined)[]): void {
  equal(new Set(values).size, values.length, `${what} is there twice: ${values.join()}`)
}

/** Liveness: once faults have ended, everything converges to the specs. */
export async function checkConvergence(world: World): Promise<void> {
  const pods = (await listOf(world, pod)) ?? []
  const ready = (app: string) => pods.filter((each) => each.metadata.labels?.['app'] === app && isPodReady(each)).length
  for (const { metadata, spec, status } of (await listOf(world, deployment)) ?? []) {
    // A Deployment that is paused during a rollout keeps its pods, including the surge.
    if (spec.paused) continue
    equal(ready(metadata.name), spec.replicas, `ready pods of ${metadata.name}`)
    deepEqual(
      [status.updatedReplicas ?? 0, status.availableReplicas ?? 0],
      [spec.replicas, spec.replicas],
      metadata.name,
    )
  }
  for (const { spec, status } of (await listOf(world, statefulSet)) ?? []) {
    equal(ready('db'), spec.replicas, 'ready pods of db')
    equal(status.updatedReplicas ?? 0, spec.replicas, 'updated pods of db')
  }
  for (const { status } of (await listOf(world, daemonSet)) ?? [])
    deepEqual(
      [ready('agent'), status.updatedNumberScheduled, status.numberMisscheduled],
      [nodeCount, nodeCount, 0],
      'agents',
    )
  for (const { status } of (await listOf(world, job)) ?? []) {
    deepEqual([status.succeeded, status.completedIndexes], [work.completions, `0-${work.completions - 1}`])
    equal(status.conditions?.at(-1)?.type, 'Complete')
    equal(status.uncountedTerminatedPods?.failed, undefined)
  }
  const ending = ((await listOf(world, namespace)) ?? []).filter(isBeingDeleted)
  deepEqual(
    ending.map(({ metadata }) => metadata.name),
    [],
    'namespaces that do not end',
  )
  await checkOrphans(world)
}

/** No object remains whose owners were all deleted. */
async function checkOrphans(world: World): Promise<void> {
  const all = (await Promise.all(storedKinds.map(async (kind) => (await listOf(world, kind)) ?? []))).flat()
  const uids = new Set(all.map(({ metadata }) => metadata.uid))
  const orphans = all.filter(
    ({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => uids.has(uid)),
  )
  deepEqual(
    orphans.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [],
    'objects without a living owner',
  )
}
