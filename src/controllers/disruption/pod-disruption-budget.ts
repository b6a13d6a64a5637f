// PodDisruptionBudget: counts the healthy pods of a budget and computes how many may be evicted.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { resolveCount } from '../../api/validation/count-or-percent.ts'
import { isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { replicationController } from '../../api/core/v1/workload/replication-controller.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { Condition } from '../../api/meta/v1/condition.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { selects, selectorText } from '../../api/selectors/selectors.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { requeueAfter } from '../workload/pod-availability.ts'
import { defineController, type Plan, type PlanView, type Watch } from '../runtime/controller.ts'

/** A pod whose eviction was granted counts as evicted for this long; if it still exists then, it counts again. */
const evictionMsMax = 120_000

interface Sized extends ApiObject {
  readonly spec: { readonly replicas?: number }
}
const sizedKinds = [replicaSet, replicationController, statefulSet] as unknown as readonly Kind<Sized>[]

const budgetsOf = (object: ApiObject, view: Pick<PlanView, 'within'>): PodDisruptionBudget[] => [
  ...view.within(podDisruptionBudget, namespaceOf(object)),
]

/** Scaling a workload changes the expected pods of the budgets in its namespace. */
const sizeReading = (kind: Kind): Watch => ({
  kind,
  enqueues({ now, before }, view) {
    const object = (now ?? before) as Sized
    const isSame = (now as Sized | undefined)?.spec.replicas === (before as Sized | undefined)?.spec.replicas
    return isSame ? [] : budgetsOf(object, view).map(keyOf)
  },
})

export const podDisruptionBudgetController = defineController<PodDisruptionBudget>({
  name: 'pod-disruption-budget',
  account: 'disruption-controller',
  component: 'controllermanager',
  reconciles: podDisruptionBudget,
  owns: [],
  watches: [
    {
      kind: pod,
      enqueues: ({ now, before }, view) =>
        [now, before].flatMap((object) =>
          object === undefined
            ? []
            : budgetsOf(object, view)
                .filter(({ spec }) => selects(spec.selector, object.metadata.labels))
                .map(keyOf),
        ),
    },
    ...([deployment, ...sizedKinds] as unknown as Kind[]).map(sizeReading),
  ],
  plan(budget, view) {
    const pods = view
      .within(pod, namespaceOf(budget))
      .filter(({ metadata }) => selects(budget.spec.selector, metadata.labels))
    const expected = expectation(budget, pods, view)
    return typeof expected === 'string' ? failed(budget, expected, view.nowMs) : counted(budget, pods, expected, view)
  },
})

interface Expectation {
  readonly expectedPods: number
  readonly desiredHealthy: number
  readonly unmanaged: number
}

/** The number of expected and of required healthy pods, or why it cannot be computed. */
function expectation({ spec }: PodDisruptionBudget, pods: readonly Pod[], view: PlanView): Expectation | string {
  const { maxUnavailable, minAvailable = 0 } = spec
  if (maxUnavailable === undefined && typeof minAvailable === 'number')
    return { expectedPods: pods.length, desiredHealthy: minAvailable, unmanaged: 0 }
  const sizes = new Map<string, number>()
  let unmanaged = 0
  for (const each of pods) {
    if (controllerOf(each) === undefined) unmanaged++
    else {
      const owner = sizedOwner(each, view)
      if (typeof owner === 'string') return owner
      sizes.set(owner.metadata.uid, owner.spec.replicas ?? 1)
    }
  }
  const expectedPods = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const desiredHealthy =
    maxUnavailable === undefined
      ? resolveCount(minAvailable, expectedPods, 'up')
      : Math.max(0, expectedPods - resolveCount(maxUnavailable, expectedPods, 'up'))
  return { expectedPods, desiredHealthy, unmanaged }
}

/** The owner that defines the number of replicas, or why there is none. */
function sizedOwner(object: Pod, view: PlanView): Sized | string {
  const reference = controllerOf(object)
  const kind = sizedKinds.find((one) => one.kind === reference?.kind && one.apiVersion === reference.apiVersion)
  if (reference === undefined || kind === undefined) {
    const [group = ''] = reference?.apiVersion.split('/') ?? []
    return `${reference?.kind.toLowerCase()}s.${group} does not implement the scale subresource`
  }
  const owner = view.find(kind, objectKey(namespaceOf(object), reference.name))
  if (owner?.metadata.uid !== reference.uid) return `found no controllers for pod "${object.metadata.name}"`
  const above = controllerOf(owner)
  if (above?.kind !== deployment.kind) return owner
  const manager = view.find(deployment, objectKey(namespaceOf(object), above.name))
  return manager?.metadata.uid === above.uid ? manager : owner
}

function counted(budget: PodDisruptionBudget, pods: readonly Pod[], wanted: Expectation, view: PlanView): Plan {
  const { nowMs } = view
  const { expectedPods, desiredHealthy, unmanaged } = wanted
  const { kept, waitMs } = disrupted(budget, pods, nowMs)
  const currentHealthy = pods.filter(
    (each) => !isBeingDeleted(each) && lookup(kept, each.metadata.name) === undefined && isPodReady(each),
  ).length
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const condition = allowance(budget, disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods', '', nowMs)
  const events: EventNote[] = [
    ...(pods.length === 0 ? [{ type: 'Normal' as const, reason: 'NoPods', message: 'No matching pods found' }] : []),
    ...(unmanaged > 0 ? [unmanagedNote(budget)] : []),
  ]
  const status = {
    ...(Object.keys(kept).length === 0 ? {} : { disruptedPods: kept }),
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    observedGeneration: budget.metadata.generation,
    conditions: withCondition(budget, condition),
  }
  return { changes: [], status, events, ...requeueAfter(waitMs) }
}

/** No disruption is allowed while the number of expected pods is unknown. */
function failed(budget: PodDisruptionBudget, why: string, nowMs: number): Plan {
  const condition = allowance(budget, 'SyncFailed', why, nowMs)
  const message = `Failed to calculate the number of expected pods: ${why}`
  return {
    changes: [],
    status: { ...budget.status, disruptionsAllowed: 0, conditions: withCondition(budget, condition) },
    events: [{ type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message }],
  }
}

const unmanagedNote = ({ spec }: PodDisruptionBudget): EventNote => ({
  type: 'Warning',
  reason: 'UnmanagedPods',
  message:
    `Pods selected by this PodDisruptionBudget (selector: ${selectorText(spec.selector)}) were found to be unmanaged. ` +
    'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
})

/** Pods whose eviction was granted and that are not being deleted yet. */
function disrupted({ status }: PodDisruptionBudget, pods: readonly Pod[], nowMs: number) {
  const present = new Map(pods.map((each) => [each.metadata.name, each]))
  const kept: Record<string, string> = {}
  let waitMs: number | undefined
  for (const [name, since] of Object.entries(status.disruptedPods ?? {})) {
    const known = present.get(name)
    if (known === undefined || isBeingDeleted(known)) continue
    const leftMs = Date.parse(since) + evictionMsMax - nowMs
    if (leftMs <= 0) continue
    setOwn(kept, name, since)
    waitMs = Math.min(waitMs ?? leftMs, leftMs)
  }
  return { kept, waitMs }
}

function allowance(
  { metadata, status }: PodDisruptionBudget,
  reason: 'SufficientPods' | 'InsufficientPods' | 'SyncFailed',
  message: string,
  nowMs: number,
): Condition {
  const type = 'DisruptionAllowed'
  const value = reason === 'SufficientPods' ? 'True' : 'False'
  const known = status.conditions?.find((condition) => condition.type === type)
  return {
    type,
    status: value,
    reason,
    message,
    lastTransitionTime: (known?.status === value ? known.lastTransitionTime : undefined) ?? rfc3339(nowMs),
    observedGeneration: metadata.generation ?? 0,
  }
}

const withCondition = ({ status }: PodDisruptionBudget, condition: Condition): Condition[] => [
  ...(status.conditions ?? []).filter(({ type }) => type !== condition.type),
  condition,
]
