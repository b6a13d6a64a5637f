// Explainer: explains the state of the objects of one kind; and what explainers share.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import type { ResourceType } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { type Int64 } from '../../../schema/scalar/int64.ts'
import type { ClusterReader } from './cluster-reader.ts'
import { warning, type Finding } from './finding.ts'

/** Explains an object by findings, the most important first; none when there is no problem. */
export interface Explainer<T extends ApiObject = ApiObject> {
  readonly kind: ResourceType<T>
  /** What is checked: `its rollout and its pods`. */
  readonly checked: string
  /** `recorded` are the flow events about the object, if its server records them. */
  explain(object: T, cluster: ClusterReader, recorded?: readonly FlowEvent[]): Promise<readonly Finding[]>
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

/** A question such as `did you mean a?` as a sentence after another one; empty without a question. */
export const questionSentence = (question: string): string => (question === '' ? '' : ` D${question.slice(1)}`)

/** If there are more names, the others are counted. */
const namesMax = 5

/** `a`, `a and b`, `a, b, c, d, e and 2 more` */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, namesMax)
  const last = names.length > namesMax ? `${names.length - namesMax} more` : shown.pop()
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last ?? ''}`
}

/** Reports that the controller has not observed the last change of the object. */
export function unobservedChange(
  object: ApiObject,
  status: { readonly observedGeneration?: Int64 } | undefined,
): Finding[] {
  const { generation = 0 } = object.metadata
  const seen = status?.observedGeneration ?? 0
  return seen < generation
    ? [warning(`Its controller has not processed the last change yet (generation ${generation}, observed ${seen}).`)]
    : []
}
