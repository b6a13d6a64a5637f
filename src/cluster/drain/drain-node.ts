// Drains a node: cordons it, evicts its pods as far as their disruption budgets allow, and waits until they have ended.
import type { Clock } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { daemonSet } from '../../api/apps/v1/daemon-set.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { hasReason, StatusError } from '../../api/errors/status-error.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import { escapedFieldValue } from '../../api/selectors/field-selector-text.ts'
import type { Client } from '../../client/client.ts'
import { listAllPages } from '../../client/informer/paged-list.ts'
import { drainPlan, type DrainRules } from './drain-plan.ts'

/** As kubectl. */
const retryMs = 5_000
const pollMs = 1_000
/** Requests at a time. */
const evictionsMax = 16

export interface DrainOptions extends DrainRules {
  /** Only pods with these labels. */
  readonly podSelector?: string
  /** Of the pods, instead of their own. */
  readonly graceSeconds?: number
  /** Deletes pods without regard to disruption budgets. */
  readonly ignoresBudgets: boolean
}

export interface DrainDeps {
  readonly client: Client
  readonly clock: Clock
  readonly out: (line: string) => void
  readonly warn: (line: string) => void
}

/** Rejects when pods prevent it, or when the signal is aborted; the node stays cordoned. */
export async function drainNode(
  name: string,
  options: DrainOptions,
  deps: DrainDeps,
  signal: AbortSignal,
): Promise<void> {
  const { client, out, warn } = deps
  const ctx = context(signal)
  await cordon(name, deps, ctx)
  const pods = await podsOn(name, options, client, ctx)
  const daemonSets = new Set((await listAllPages(client.of(daemonSet), {}, ctx)).items.map(keyOf))
  const { evicted, errors, warnings } = drainPlan(pods, options, (namespace, of) =>
    daemonSets.has(`${namespace}/${of}`),
  )
  for (const warning of warnings) warn(`Warning: ${warning}`)
  if (errors.length > 0) throw new Error(`unable to drain node ${JSON.stringify(name)}: ${errors.join('; ')}`)
  await evictAll(name, evicted, options, deps, ctx)
  out(`node/${name} drained`)
}

async function cordon(name: string, { client, out }: DrainDeps, ctx: Context): Promise<void> {
  const { spec } = await client.of(node).get(name, '', ctx)
  if (spec?.unschedulable === true) return out(`node/${name} already cordoned`)
  await client.of(node).patch(name, '', { spec: { unschedulable: true } }, 'strategic', ctx)
  out(`node/${name} cordoned`)
}

async function podsOn(
  name: string,
  { podSelector }: Pick<DrainOptions, 'podSelector'>,
  client: Client,
  ctx: Context,
): Promise<readonly Pod[]> {
  const fieldSelector = `spec.nodeName=${escapedFieldValue(name)}`
  const only = podSelector === undefined ? { fieldSelector } : { fieldSelector, labelSelector: podSelector }
  return (await listAllPages(client.of(podKind), only, ctx)).items
}

async function evictAll(
  name: string,
  pods: readonly Pod[],
  options: DrainOptions,
  { client, clock, out, warn }: DrainDeps,
  ctx: Context,
): Promise<void> {
  const [past, verb] = options.ignoresBudgets ? ['deleted', 'deleting'] : ['evicted', 'evicting']
  for (const pod of pods) out(`${verb} pod ${keyOf(pod)}`)
  const uidOf = ({ metadata: { uid } }: Pod): string => uid
  const ending = new Map<string, Pod>()
  let waiting = [...pods]
  let retryAtMs = 0
  while (waiting.length + ending.size > 0) {
    if (clock.monotonicMs() >= retryAtMs) {
      const refused: Pod[] = []
      for (let next = 0; next < waiting.length; next += evictionsMax)
        await Promise.all(
          waiting.slice(next, next + evictionsMax).map(async (pod) => {
            const why = await evictionOf(pod, options, client, ctx)
            if (why === undefined) return void ending.set(uidOf(pod), pod)
            warn(
              `error when ${verb} pods/"${pod.metadata.name}" -n "${namespaceOf(pod)}" (will retry after 5s): ${why}`,
            )
            refused.push(pod)
          }),
        )
      waiting = refused
      retryAtMs = clock.monotonicMs() + retryMs
    }
    const present = new Set((await podsOn(name, options, client, ctx)).map(uidOf))
    waiting = waiting.filter((pod) => present.has(uidOf(pod)))
    for (const [uid, pod] of ending)
      if (!present.has(uid)) {
        ending.delete(uid)
        out(`pod/${pod.metadata.name} ${past}`)
      }
    if (waiting.length + ending.size > 0) await clock.sleep(pollMs, ctx.signal)
  }
}

/** Undefined if the pod ends or has ended; otherwise why it may be evicted later. */
async function evictionOf(
  pod: Pod,
  { graceSeconds, ignoresBudgets }: DrainOptions,
  client: Client,
  ctx: Context,
): Promise<string | undefined> {
  const { name, uid } = pod.metadata
  const namespace = namespaceOf(pod)
  const grace = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }
  try {
    if (ignoresBudgets) await client.of(podKind).delete(name, namespace, { uid, ...grace }, ctx)
    else {
      // Another pod with the name, which may be on another node, is not evicted.
      const deleteOptions = { ...grace, preconditions: { uid } }
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions }
      await client.of(podKind).createSubresource(name, namespace, 'eviction', eviction, ctx)
    }
    return undefined
  } catch (error) {
    if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return undefined
    if (hasReason(error, 'TooManyRequests') || isOfEndingNamespace(error)) return (error as Error).message
    throw new Error(`error when evicting pods/"${name}" -n "${namespace}": ${(error as Error).message}`, {
      cause: error,
    })
  }
}

const isOfEndingNamespace = (error: unknown): boolean =>
  error instanceof StatusError && (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')
