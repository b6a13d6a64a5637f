// Explainer: explains the state of the objects of one kind; and what explainers share.
import type { Kind, ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'

export interface ClusterReader {
  list<T extends ApiObject>(kind: ResourceType<T>, namespace: string): Promise<readonly T[]>
  find<T extends ApiObject>(kind: ResourceType<T>, namespace: string, name: string): Promise<T | undefined>
  /** The kind that an owner reference names, if it is served. Without it, owners are not checked. */
  kindOf?(apiVersion: string, kindName: string): Promise<Kind | undefined>
  readonly nowMs: number
  /** False for another Kubernetes, whose components are not described here. */
  readonly isCoxswain?: boolean
}

/** Explains an object in sentences, the most important first; none when there is no problem. */
export interface Explainer<T extends ApiObject = ApiObject> {
  readonly kind: ResourceType<T>
  /** What is checked: `its rollout and its pods`. */
  readonly checked: string
  explain(object: T, cluster: ClusterReader): Promise<readonly string[]>
}

export const defineExplainer = <T extends ApiObject>(explainer: Explainer<T>): Explainer => explainer

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type)

/** The reason and message of a condition, without a final full stop. */
export function because({ reason = '', message = '' }: Pick<Condition, 'reason' | 'message'>): string {
  const parts = [reason, message].filter((part) => part !== '')
  return parts.length === 0 ? 'no reason is given' : parts.join(': ').replace(/\.$/, '')
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Reports that the controller has not observed the last change of the object. */
export function unobservedChange(
  object: ApiObject,
  status: { readonly observedGeneration?: Int64 } | undefined,
): string[] {
  const { generation = 0 } = object.metadata
  const seen = status?.observedGeneration ?? 0
  return seen < generation
    ? [`Its controller has not processed the last change yet (generation ${generation}, observed ${seen}).`]
    : []
}
