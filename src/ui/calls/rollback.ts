// The roll back of a workload to an earlier revision of its pod template, as kubectl makes it: a Deployment's revisions are its
// ReplicaSets, those of a StatefulSet or DaemonSet its ControllerRevisions.
import type { CallApi } from './workload-calls.ts'

export interface RolloutRevision {
  readonly revision: number
  /** The pod template, as the workload would have it. */
  readonly template: Readonly<Record<string, unknown>>
}

/** A ReplicaSet or ControllerRevision. */
export interface RevisionObject {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[]
  }
  readonly spec?: { readonly template?: PodTemplate }
  readonly revision?: number
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } }
}

interface PodTemplate {
  readonly spec?: object
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> }
}

interface Workload {
  readonly spec?: { readonly paused?: boolean; readonly template?: Readonly<Record<string, unknown>> }
  readonly metadata: { readonly uid?: string }
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'
const hashLabel = 'pod-template-hash'

/** The earlier revisions of a workload, the newest first. The newest of all is what it has now. */
export function earlierRevisions(uid: string, objects: readonly RevisionObject[]): readonly RolloutRevision[] {
  return objects
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller === true))
    .map((object) => ({ revision: revisionOf(object), template: templateOf(object) }))
    .filter(({ revision }) => revision > 0)
    .toSorted((a, b) => b.revision - a.revision)
    .slice(1)
}

const revisionOf = ({ revision, metadata }: RevisionObject): number =>
  revision ?? Number(metadata.annotations?.[revisionAnnotation] ?? 0)

/** Without the label by which a ReplicaSet recognizes its pods, and the directive of a ControllerRevision's patch. */
function templateOf({ spec, data }: RevisionObject): RolloutRevision['template'] {
  const { $patch: _, ...template } = (data?.spec?.template ?? spec?.template ?? {}) as PodTemplate & { $patch?: string }
  const { [hashLabel]: _hash, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** The workload with its uid and its present pod template. */
export async function readWorkload(
  api: CallApi,
  target: string,
  signal: AbortSignal,
): Promise<{ readonly uid: string; readonly template: RolloutRevision['template'] }> {
  const { metadata, spec } = (await api.read(target, 'application/json', signal)) as Workload
  return { uid: metadata.uid ?? '', template: spec?.template ?? {} }
}

export async function rollBack(
  api: CallApi,
  target: string,
  { template }: RolloutRevision,
  signal: AbortSignal,
): Promise<void> {
  const { spec } = (await api.read(target, 'application/json', signal)) as Workload
  if (spec?.paused === true) throw new Error('it is paused: resume it first (kubectl rollout resume)')
  const patch = { spec: { template: { ...template, $patch: 'replace' } } }
  await api.patch(target, 'application/strategic-merge-patch+json', patch, signal)
}
