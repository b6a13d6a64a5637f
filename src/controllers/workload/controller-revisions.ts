// ControllerRevisions: the numbered template history of a StatefulSet or DaemonSet, for rollbacks.
import { controllerRevision, type ControllerRevision } from '../../api/apps/v1/controller-revision.ts'
import type { PodTemplateSpec } from '../../api/core/v1/pod-spec/pod-template-spec.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import { equalValues, withSortedKeys, type JsonObject } from '../../schema/json/json-value.ts'
import type { Change, PlanView } from '../runtime/controller.ts'
import { templateHash } from './template-hash.ts'
import { compareInt64, nextInt64 } from '../../schema/scalar/int64.ts'

interface RevisionedWorkload extends ApiObject {
  readonly spec: { readonly template: PodTemplateSpec; readonly revisionHistoryLimit: number }
  readonly status: { readonly collisionCount?: number }
}

export type RevisionPlan =
  | {
      readonly kind: 'current'
      readonly revision: ControllerRevision
      readonly revisions: readonly ControllerRevision[]
    }
  /** The template has no revision yet, or an old number: this change is made first. */
  | { readonly kind: 'change'; readonly change: Change }
  /** Another object has the name. */
  | { readonly kind: 'collision' }

/** Clients compare the bytes, so the keys are in upstream's order. */
const dataOf = (template: PodTemplateSpec): object =>
  withSortedKeys({ spec: { template: { $patch: 'replace', ...template } } } as unknown as JsonObject) as object

/** The template of a revision. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { $patch: _, ...template } = (data as { spec: { template: PodTemplateSpec & { $patch?: string } } }).spec
    .template
  return template
}

export const hashOfRevision = ({ metadata }: ControllerRevision, owner: ApiObject): string =>
  metadata.name.slice(owner.metadata.name.length + 1)

/** The revision of the current template. `hashLabel` is the label for the hash on revisions of the owner's kind. */
export function planRevision(object: RevisionedWorkload, hashLabel: string, { owned, find }: PlanView): RevisionPlan {
  const revisions = owned(controllerRevision).toSorted(
    (a, b) =>
      compareInt64(a.revision, b.revision) || (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1),
  )
  const newest = revisions.at(-1)?.revision ?? 0
  const data = dataOf(object.spec.template)
  const equal = revisions.findLast((revision) => equalValues(revision.data, data))
  if (equal !== undefined && equal.revision === newest) return { kind: 'current', revision: equal, revisions }
  if (equal !== undefined) {
    const renumbered: ControllerRevision = { ...equal, revision: nextInt64(newest) }
    return { kind: 'change', change: { kind: 'update', of: controllerRevision, object: renumbered } }
  }
  const hash = templateHash(object.spec.template, object.status.collisionCount)
  const name = `${object.metadata.name}-${hash}`
  if (find(controllerRevision, objectKey(namespaceOf(object), name)) !== undefined) return { kind: 'collision' }
  const { annotations } = object.metadata
  const labels = { ...object.spec.template.metadata.labels, [hashLabel]: hash }
  return {
    kind: 'change',
    change: {
      kind: 'create',
      of: controllerRevision,
      object: {
        metadata: { name, labels, ...(annotations === undefined ? {} : { annotations }) },
        data,
        revision: nextInt64(newest),
      },
    },
  }
}

/** Deletes the oldest revisions beyond the history limit, except those that pods still use. */
export function surplusRevisions(
  { spec }: RevisionedWorkload,
  revisions: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean,
): Change[] {
  const idle = revisions.filter((revision) => !isLive(revision))
  const surplus = Math.max(0, idle.length - spec.revisionHistoryLimit)
  return idle.slice(0, surplus).map((object) => ({ kind: 'delete', of: controllerRevision, object }))
}
