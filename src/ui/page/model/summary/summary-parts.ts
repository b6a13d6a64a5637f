// What a summary of an object consists of: facts and tables of related objects, as data.
import type { CellState } from '../cell-states.ts'
import type { ClusterObject } from '../../source/source.ts'

/** An object that a summary links to. */
export interface LinkedObject {
  /** The id of its resource: `replicasets.apps`. */
  readonly resource: string
  /** Empty for objects without one. */
  readonly namespace: string
  readonly name: string
}

/** A text, a state in its color, a link, or the time since something has happened. */
export type SummaryValue =
  | string
  | { readonly text: string; readonly state?: CellState; readonly object?: LinkedObject }
  | { readonly since: string }

export interface SummaryFact {
  readonly label: string
  readonly values: readonly SummaryValue[]
}

export interface SummaryTable {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SummaryValue[])[]
  /** What is said if there are no rows. */
  readonly empty: string
}

export interface Summary {
  readonly facts: readonly SummaryFact[]
  readonly tables: readonly SummaryTable[]
}

/** A list that a summary needs. */
export interface RelatedQuery {
  /** The id of a resource. */
  readonly resource: string
  readonly namespace: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** The objects that the queries have found, by the id of their resource. */
export type RelatedLists = (resource: string) => readonly ClusterObject[]

/** The summary of one kind. */
export interface KindSummary {
  /** Without it the summary needs nothing but the object. */
  readonly queries?: (object: ClusterObject) => readonly RelatedQuery[]
  readonly facts: (object: ClusterObject, lists: RelatedLists) => readonly SummaryFact[]
  readonly tables?: (object: ClusterObject, lists: RelatedLists) => readonly SummaryTable[]
  /** The pods of a workload. */
  readonly pods?: (object: ClusterObject, lists: RelatedLists) => readonly ClusterObject[]
}

/** Rows of one table; the list of the kind has all of them. */
export const tableRowsMax = 200

/** A fact, unless nothing is known. */
export function fact(label: string, ...values: readonly (SummaryValue | number | undefined)[]): readonly SummaryFact[] {
  const known = values.flatMap((value): readonly SummaryValue[] =>
    value === undefined || value === '' ? [] : [typeof value === 'number' ? String(value) : value],
  )
  return known.length === 0 ? [] : [{ label, values: known }]
}

export const linkTo = (resource: string, { metadata }: Pick<ClusterObject, 'metadata'>): SummaryValue => ({
  text: metadata.name,
  object: { resource, namespace: metadata.namespace ?? '', name: metadata.name },
})

export const linkNamed = (resource: string, namespace: string, name: string | undefined): SummaryValue =>
  name === undefined || name === '' ? '' : { text: name, object: { resource, namespace, name } }

export const sinceCreation = ({ metadata }: Pick<ClusterObject, 'metadata'>): SummaryValue => ({
  since: metadata.creationTimestamp ?? '',
})

/** Whether an object is controlled by another one. */
export const isControlledBy = (object: ClusterObject, uid: string | undefined): boolean =>
  uid !== undefined && object.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true
