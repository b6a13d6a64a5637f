// A drain of a node, as kubectl does it: the node is cordoned, then its pods are evicted. A pod whose PodDisruptionBudgets allow no
// disruption is evicted as soon as they do.
import type { CreateApi } from './workload-calls.ts'

export interface DrainedPod {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
    readonly ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean }[]
  }
  readonly spec?: { readonly volumes?: readonly { readonly emptyDir?: object }[] }
  readonly status?: { readonly phase?: string }
}

export interface DrainPlan<T extends DrainedPod = DrainedPod> {
  readonly evicted: readonly T[]
  /** Pods of the node itself: the kubelet and DaemonSets would create them again. */
  readonly ofDaemonSets: readonly T[]
  readonly mirrors: readonly T[]
  /** Evicted pods that nothing replaces, and those whose data in emptyDir volumes are lost. */
  readonly unmanaged: readonly T[]
  readonly withLocalData: readonly T[]
}

export interface DrainProgress {
  /** Pods that are gone. */
  readonly done: number
  readonly total: number
  /** What the remaining pods wait for. */
  readonly waiting: readonly string[]
}

export interface DrainDeps {
  readonly api: CreateApi
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly report: (progress: DrainProgress) => void
}

/** Whether pods are gone, and rejected evictions, are tried again after this time, for an hour at most. */
const retryMs = 2_000
const roundsMax = 1_800

const mirrorAnnotation = 'kubernetes.io/config.mirror'

const isEnded = ({ status }: DrainedPod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'
const controllerOf = ({ metadata }: DrainedPod): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.kind

/** What happens to each pod of a node. */
export function drainPlan<T extends DrainedPod>(pods: readonly T[]): DrainPlan<T> {
  const isMirror = (pod: T): boolean => pod.metadata.annotations?.[mirrorAnnotation] !== undefined
  const isOfDaemonSet = (pod: T): boolean => controllerOf(pod) === 'DaemonSet' && !isEnded(pod)
  const evicted = pods.filter((pod) => !isMirror(pod) && !isOfDaemonSet(pod))
  const running = evicted.filter((pod) => !isEnded(pod))
  return {
    evicted,
    ofDaemonSets: pods.filter((pod) => !isMirror(pod) && isOfDaemonSet(pod)),
    mirrors: pods.filter(isMirror),
    unmanaged: running.filter((pod) => controllerOf(pod) === undefined),
    withLocalData: running.filter(({ spec }) => spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined)),
  }
}

/** Evicts pods until all are gone. Throws if an eviction fails for another reason than a PodDisruptionBudget. */
export async function evictPods(
  { api, sleep, report }: DrainDeps,
  pods: readonly DrainedPod[],
  signal: AbortSignal,
): Promise<void> {
  let remaining = pods
  const accepted = new Set<DrainedPod>()
  for (let round = 0; round < roundsMax; round++) {
    const waiting: string[] = []
    const next: DrainedPod[] = []
    for (const pod of remaining) {
      const reason = accepted.has(pod) ? await presence(api, pod, signal) : await evict(api, pod, signal)
      if (reason === 'gone') continue
      next.push(pod)
      if (reason === 'ends') accepted.add(pod)
      waiting.push(`${pod.metadata.name}: ${reason}`)
    }
    remaining = next
    report({ done: pods.length - remaining.length, total: pods.length, waiting })
    if (remaining.length === 0) return
    await sleep(retryMs, signal)
  }
  throw new Error(`${remaining.length} pods are not gone after an hour: ${remaining[0]?.metadata.name ?? ''}`)
}

/** The code of a response in which the server rejects a request. */
const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined

/** `ends` if the eviction is accepted, otherwise why the pod must wait. A new pod of the same name is not evicted. */
async function evict(api: CreateApi, { metadata }: DrainedPod, signal: AbortSignal): Promise<string> {
  const { name, namespace, uid } = metadata
  const deleteOptions = uid === undefined ? {} : { deleteOptions: { preconditions: { uid } } }
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...deleteOptions }
  try {
    await api.create(`${targetOf(metadata)}/eviction`, eviction, signal)
    return 'ends'
  } catch (error) {
    const code = codeOf(error)
    if (code === 404 || code === 409) return 'gone'
    if (code === 429) return (error as Error).message
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
  }
}

async function presence(api: CreateApi, { metadata }: DrainedPod, signal: AbortSignal): Promise<'gone' | 'ends'> {
  try {
    const found = (await api.read(targetOf(metadata), 'application/json', signal)) as DrainedPod
    return found.metadata.uid === metadata.uid ? 'ends' : 'gone'
  } catch (error) {
    if (codeOf(error) === 404) return 'gone'
    throw error
  }
}

const targetOf = ({ name, namespace = '' }: DrainedPod['metadata']): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`
