// findingsOf: everything that is found about one object: its finalizers, what its explainer finds, and its owners.
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { qualifiedResource, type ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'
import type { ClusterReader } from './explainer/cluster-reader.ts'
import { because, unobservedChange, type Explainer } from './explainer/explainer.ts'
import { finalizerFindings } from './explainer/finalizer-removers.ts'
import { problem, type Finding } from './explainer/finding.ts'
import { ownerFindings } from './explainer/owners.ts'
import { explainers } from './explainers.ts'

export const explainerOf = (kind: ResourceType): Explainer | undefined =>
  explainers.find((each) => each.kind === kind || isSameCustomKind(each.kind, kind))

/** The server describes the kinds of custom resources, so that they are equal in their names only. */
const isSameCustomKind = (known: ResourceType, kind: ResourceType): boolean =>
  known.isCustom === true && qualifiedResource(known) === qualifiedResource(kind)

export async function findingsOf(
  kind: ResourceType,
  object: ApiObject,
  cluster: ClusterReader,
  recorded: readonly FlowEvent[],
): Promise<readonly Finding[]> {
  const explainer = explainerOf(kind)
  return [
    ...finalizerFindings(kind, object),
    ...(explainer === undefined ? genericFindings(object) : await explainer.explain(object, cluster, recorded)),
    ...(await ownerFindings(object, cluster)),
  ]
}

interface ConditionSummary {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** Conditions that report a problem when they are True. */
const badWhenTrue = /^(Dangling|Denied|Failed|NetworkUnavailable|.*Pressure|.*Failure)$/

interface GenericStatus {
  readonly observedGeneration?: Int64
  readonly conditions?: readonly ConditionSummary[]
}

/** For kinds without an explainer: what their controller has not processed, and the conditions that report a problem. */
function genericFindings(object: ApiObject): Finding[] {
  const { status } = object as { status?: GenericStatus }
  const unobserved = status?.observedGeneration === undefined ? [] : unobservedChange(object, status)
  const bad = (status?.conditions ?? []).filter(
    (condition) => (condition.status === 'True') === badWhenTrue.test(condition.type),
  )
  return [
    ...unobserved,
    ...bad.map((condition) =>
      problem(`Its condition ${condition.type} is ${condition.status}: ${because(condition)}.`),
    ),
  ]
}
