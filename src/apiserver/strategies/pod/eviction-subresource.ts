// Eviction: a pod is deleted if the disruption budgets of its namespace allow it. The budget is updated before the pod
// is deleted.
import { rfc3339 } from '../../../base/time/clock.ts'
import { isPodFinished, isPodReady } from '../../../api/core/v1/pod/pod-readiness.ts'
import { pod as podKind, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PodCondition } from '../../../api/core/v1/pod/pod-status.ts'
import { eviction } from '../../../api/policy/v1/eviction.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../../api/policy/v1/pod-disruption-budget.ts'
import { isBeingDeleted } from '../../../api/meta/object.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import {
  badRequest,
  conflict,
  forbidden,
  hasReason,
  methodNotAllowed,
  StatusError,
} from '../../../api/errors/status-error.ts'
import { updateWithRetry } from '../../registry/verbs/update-with-retry.ts'
import { admitBody } from '../../registry/subresources/subresource-admission.ts'
import { removeWithoutAdmission } from '../../registry/verbs/deletion.ts'
import { decodeBody } from '../../objects/decode-object.ts'
import { type ResourceDeps } from '../../registry/resource/resource-deps.ts'
import type { SubresourceHandler } from '../../registry/subresources/subresource-handler.ts'
import { createdStatus } from '../../registry/subresources/subresources.ts'
import { get } from '../../registry/verbs/reads.ts'
import { isDryRun, type ResourceRequest } from '../../request/request.ts'

const disruptedPodsMax = 2_000
const processingSeconds = 10

type Verdict =
  /** No budget protects the pod. */
  | { readonly kind: 'free' }
  /** It can be evicted while it is not ready, so the pod must not have changed since the check. */
  | { readonly kind: 'unready' }
  | { readonly kind: 'costs'; readonly budget: string }

/** `budgets` are those that select the pod. Throws where they do not allow the eviction. */
export function evictionVerdict(pod: Pod, budgets: readonly PodDisruptionBudget[]): Verdict {
  if (isPodFinished(pod) || isBeingDeleted(pod)) return { kind: 'free' }
  if (pod.status.phase === 'Pending') return { kind: 'unready' }
  const [budget, ...more] = budgets
  if (budget === undefined) return { kind: 'free' }
  if (more.length > 0)
    throw new StatusError(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  if (!isPodReady(pod) && mayGoUnready(budget)) return { kind: 'unready' }
  return { kind: 'costs', budget: budget.metadata.name }
}

function mayGoUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  return status.currentHealthy >= status.desiredHealthy && status.desiredHealthy > 0
}

/** The budget after one more disruption. Throws where it allows none. */
export function withDisruption(budget: PodDisruptionBudget, podName: string, nowMs: number): PodDisruptionBudget {
  const { metadata, status } = budget
  const { name } = metadata
  const resource = { group: 'policy', plural: 'poddisruptionbudget' }
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw stillProcessing(name)
  if (status.disruptionsAllowed < 0) throw forbidden(resource, name, 'pdb disruptions allowed is negative')
  const { disruptedPods = {} } = status
  if (Object.keys(disruptedPods).length > disruptedPodsMax)
    throw forbidden(resource, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (status.disruptionsAllowed === 0)
    throw disruptionBudgetError(
      0,
      `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`,
    )
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: status.disruptionsAllowed - 1,
      disruptedPods: { ...disruptedPods, [podName]: rfc3339(nowMs) },
    },
  }
}

const disruptionBudgetError = (retryAfterSeconds: number, message: string): StatusError =>
  new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  })

const stillProcessing = (name: string): StatusError =>
  disruptionBudgetError(processingSeconds, `The disruption budget ${name} is still being processed by the server.`)

export const evictionHandler: SubresourceHandler = {
  kind: podKind,
  subresource: 'eviction',
  async handle(pods, request, { resource }) {
    if (request.target.verb !== 'create') throw methodNotAllowed()
    await evict(pods, resource(podDisruptionBudget), request)
    return createdStatus
  },
}

async function evict(pods: ResourceDeps, budgets: ResourceDeps, request: ResourceRequest): Promise<void> {
  const { target } = request
  const sent = await decodeEviction(pods, request)
  const { object, revision } = await get(pods, request)
  const pod = object as Pod
  const selecting = pods.lister
    .list(podDisruptionBudget, target.namespace)
    .filter(({ spec }) => selects(spec.selector, pod.metadata.labels))
  const verdict = evictionVerdict(pod, selecting)
  const options = sent.deleteOptions ?? {}
  const isDry = isDryRun(request) || (options.dryRun ?? []).includes('All')
  if (verdict.kind === 'costs') await spendBudget(budgets, request, verdict.budget, isDry)
  const expected = options.preconditions?.resourceVersion ?? (verdict.kind === 'unready' ? String(revision) : undefined)
  const marked = isDry ? undefined : await markDisrupted(pods, request, expected)
  const resourceVersion = expected === undefined ? undefined : (marked ?? expected)
  const preconditions = { ...options.preconditions, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  const dryRun = isDry ? { dryRun: ['All'] } : {}
  try {
    await removeWithoutAdmission(pods, request, { ...options, ...dryRun, preconditions })
  } catch (error) {
    const isOurs = verdict.kind === 'unready' && options.preconditions?.resourceVersion === undefined
    throw isOurs && hasReason(error, 'Conflict') ? stillProcessing(selecting[0]?.metadata.name ?? '') : error
  }
}

async function decodeEviction(pods: ResourceDeps, request: ResourceRequest) {
  const { target, body } = request
  const admitted = await admitBody(
    pods.admission,
    request,
    body.kind === 'value' ? body.value : {},
    pods.kind,
    'eviction',
  )
  const sent = decodeBody(eviction, 'Eviction', admitted)
  if (sent.metadata?.name !== target.name) throw badRequest('name in URL does not match name in Eviction object')
  return sent
}

/** A dry run checks the budget and does not change it. */
async function spendBudget(
  budgets: ResourceDeps,
  { target, context }: ResourceRequest,
  name: string,
  isDry: boolean,
): Promise<void> {
  await updateWithRetry(budgets, { namespace: target.namespace, name }, context, (current) => {
    const next = withDisruption(current as PodDisruptionBudget, target.name, budgets.clock.nowMs())
    return isDry ? current : next
  })
}

/** Adds the condition DisruptionTarget to the pod; returns its new resourceVersion. */
async function markDisrupted(
  pods: ResourceDeps,
  { target, context }: ResourceRequest,
  expected: string | undefined,
): Promise<string> {
  const stored = await updateWithRetry(pods, target, context, (current) => {
    const pod = current as Pod
    const { resourceVersion } = pod.metadata
    if (expected !== undefined && resourceVersion !== expected)
      throw conflict(
        { group: '', plural: 'pods' },
        target.name,
        `the ResourceVersion in the precondition (${expected}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
      )
    const disrupted: PodCondition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
      lastTransitionTime: rfc3339(pods.clock.nowMs()),
    }
    const conditions = [...(pod.status.conditions ?? []).filter(({ type }) => type !== disrupted.type), disrupted]
    return { ...pod, status: { ...pod.status, conditions } } as Pod
  })
  return String(stored.revision)
}
