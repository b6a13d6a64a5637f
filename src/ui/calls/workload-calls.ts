// The requests that scale, restart, suspend, cordon and delete an object, as kubectl makes them.

/** Requests with the paths of an API server. */
export interface CallApi {
  /** A JSON document. */
  read(target: string, accept: string, signal: AbortSignal): Promise<unknown>
  delete(target: string, options: object, signal: AbortSignal): Promise<void>
  /** The type is that of the patch. */
  patch(target: string, type: string, patch: object, signal: AbortSignal): Promise<void>
}

/** Requests that also create. */
export interface CreateApi extends CallApi {
  create(target: string, object: object, signal: AbortSignal): Promise<void>
}

export interface DeleteOptions {
  /** Deletes this object, and not a new one of the same name; empty for any. */
  readonly uid: string
  /** Ends the containers at once. */
  readonly isNow: boolean
  /** Only says whether the server would do it. */
  readonly isDryRun?: boolean
}

const mergePatch = 'application/merge-patch+json'
const strategicMergePatch = 'application/strategic-merge-patch+json'

export async function deleteObject(
  api: CallApi,
  target: string,
  { uid, isNow, isDryRun = false }: DeleteOptions,
  signal: AbortSignal,
): Promise<void> {
  const preconditions = uid === '' ? {} : { preconditions: { uid } }
  // A server that gets options in the body ignores those of the query.
  const trying = isDryRun ? { dryRun: ['All'] } : {}
  const grace = isNow ? { gracePeriodSeconds: 1 } : {}
  await api.delete(target, { propagationPolicy: 'Background', ...preconditions, ...grace, ...trying }, signal)
}

export const scaleObject = (api: CallApi, target: string, replicas: number, signal: AbortSignal): Promise<void> =>
  api.patch(`${target}/scale`, mergePatch, { spec: { replicas } }, signal)

/** A workload that is paused would be restarted only when it is resumed. */
export async function restartWorkload(
  api: CallApi,
  target: string,
  { singular, nowMs }: { readonly singular: string; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { spec } = (await api.read(target, 'application/json', signal)) as {
    readonly spec?: { readonly paused?: boolean }
  }
  if (spec?.paused === true) throw new Error(`can't restart paused ${singular} (run kubectl rollout resume first)`)
  const restartedAt = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  const metadata = { annotations: { 'kubectl.kubernetes.io/restartedAt': restartedAt } }
  await api.patch(target, strategicMergePatch, { spec: { template: { metadata } } }, signal)
}

/** Whether a Job or CronJob is suspended. */
export const suspendObject = (api: CallApi, target: string, suspend: boolean, signal: AbortSignal): Promise<void> =>
  api.patch(target, mergePatch, { spec: { suspend } }, signal)

/** Whether pods are scheduled to a node. */
export const cordonNode = (api: CallApi, target: string, isCordoned: boolean, signal: AbortSignal): Promise<void> =>
  api.patch(target, mergePatch, { spec: { unschedulable: isCordoned ? true : null } }, signal)
