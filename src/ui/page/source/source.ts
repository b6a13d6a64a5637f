// Where the page's data comes from: a running cluster, or the record of a test. The page uses nothing else.
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import type { Reach } from '../../../flows/reach/explain-path.ts'
import type { CreateApi } from '../../calls/workload-calls.ts'
import type { OpenApiDocument } from '../model/editing/schema-node.ts'
import type { OverviewSource } from './overview.ts'

export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
}

/** `pods`, `deployments.apps`. */
export const resourceId = ({ plural, group }: Pick<Resource, 'plural' | 'group'>): string =>
  group === '' ? plural : `${plural}.${group}`

export interface OwnerReference {
  readonly apiVersion?: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

export interface Metadata {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string | null
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly unknown[]
  readonly deletionTimestamp?: string
}

/** An object of any kind. */
export interface ClusterObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: Metadata
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

export interface Column {
  readonly name: string
  /** Columns above 0 are shown in wide lists only. */
  readonly priority: number
}

export interface TableRow {
  readonly cells: readonly unknown[]
  readonly object: ClusterObject
}

export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly TableRow[]
}

export type RowChange =
  | { readonly kind: 'replace'; readonly table: Table }
  | { readonly kind: 'set'; readonly row: TableRow }
  | { readonly kind: 'remove'; readonly object: ClusterObject }

/** One retained revision of an object. */
export interface HistoryEntry {
  readonly revision: number
  readonly at: string
  readonly author: string
  /** Undefined for a deletion. */
  readonly object: ClusterObject | undefined
}

/** A revision as the server describes it. */
export interface DescribedRevision {
  readonly revision: number
  readonly atMs?: number | undefined
  readonly sender?: string | undefined
  readonly manager?: string | undefined
  readonly object?: ClusterObject | undefined
}

export const historyEntry = ({ revision, atMs, sender, manager, object }: DescribedRevision): HistoryEntry => ({
  revision,
  object,
  at: atMs === undefined ? 'unknown time' : new Date(atMs).toISOString(),
  author: sender ?? manager ?? 'unknown',
})

export interface NodeVerdict {
  readonly node: string
  readonly verdict: string
  readonly plugin?: string
  readonly reasons?: readonly string[]
  readonly total?: number
  readonly scores?: Readonly<Record<string, number>>
}

/** What the scheduler decided about a pod. */
export interface SchedulingDecision {
  readonly at: string
  readonly schedulerName: string
  readonly nodeName?: string
  readonly message: string
  readonly nodes: readonly NodeVerdict[]
}

/** The revisions for which the cluster can be shown. */
export interface RevisionRange {
  readonly oldest: number
  readonly newest: number
  /** Revisions in between with their times, in order; not all of them if there are many. */
  readonly marks: readonly RevisionMark[]
}

export interface RevisionMark {
  readonly revision: number
  readonly atMs: number | undefined
}

export interface ClusterClock {
  readonly nowMs: number
}

export interface Terminal {
  write(text: string): void
  resize(columns: number, rows: number): void
  close(): void
}

export interface ListOptions {
  /** Empty for all namespaces. */
  readonly namespace: string
  /** Undefined for the present. */
  readonly revision: number | undefined
  /** A report ignores selectors: it has few objects. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/** An object that a search has found. */
export interface FoundObject {
  /** Its id: `deployments.apps`. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

/** Messages that are drawn when no object is selected; the stream begins with as many. */
export const recentMax = 150

export interface PastPage {
  /** In the order in which they were recorded. */
  readonly events: readonly FlowEvent[]
  /** Where the next page ends; 0 if there is none. */
  readonly before: number
}

export interface Source {
  /** The name of the cluster or of the test. */
  readonly title: string
  readonly isLive: boolean
  /** Whether flow events are recorded; not by other API servers than Coxswain's. */
  readonly hasFlows: boolean
  /** Calls back with batches of flow events until the signal is aborted or the connection ends. */
  followEvents(onEvents: (events: readonly FlowEvent[], gap: boolean) => void, signal: AbortSignal): Promise<void>
  /** A page of the events before one, or of the newest events; undefined if there are no older ones. */
  pastEvents(before: number | undefined, signal: AbortSignal): Promise<PastPage | undefined>
  resources(): Promise<readonly Resource[]>
  /** The name of the user; undefined if there is none. */
  user(): Promise<string | undefined>
  /** How many objects there are in a namespace, or in all if it is empty; undefined if the user may not list them. */
  count(resource: Resource, namespace: string, signal: AbortSignal): Promise<number | undefined>
  /** The objects whose names contain the words of a text, the best matches first. */
  search(text: string, namespace: string, signal: AbortSignal): Promise<readonly FoundObject[]>
  /** The objects of a resource, followed by their changes, unless a past revision is requested. */
  followTable(
    resource: Resource,
    options: Pick<ListOptions, 'namespace' | 'revision'>,
    onChange: (change: RowChange) => void,
    signal: AbortSignal,
  ): Promise<void>
  list(resource: Resource, options: ListOptions): Promise<readonly ClusterObject[]>
  history(resource: Resource, object: FlowObject): Promise<readonly HistoryEntry[]>
  /** Sentences that explain what an object waits for; none when it is healthy. */
  why(resource: Resource, object: FlowObject): Promise<readonly string[]>
  decision(pod: FlowObject): Promise<SchedulingDecision | undefined>
  revisions(): Promise<RevisionRange | undefined>
  /** Only of a live cluster. */
  readonly summaries: OverviewSource | undefined
  /** Only of a live cluster. */
  readonly actions: Actions | undefined
}

export interface ApplyOptions {
  readonly isDryRun: boolean
  /** Takes fields of other managers over. */
  readonly isForced: boolean
}

export interface Applied {
  readonly object: ClusterObject
  readonly isCreated: boolean
}

/** Where a terminal is: in a new shell of a container, or in the process with which the container began. */
export interface ShellPlace {
  readonly container: string
  readonly isAttached: boolean
}

/** A container whose log is shown. */
export interface LogSource {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

export interface LogOptions {
  /** Of the container before its last restart. */
  readonly isPrevious: boolean
  /** Whether it continues with what is written later. */
  readonly isFollowed?: boolean
  /** Whether lines begin with their times. */
  readonly hasTimes?: boolean
  readonly tailLines?: number
  readonly limitBytes?: number
  /** Only lines from this time on, to the second. */
  readonly sinceTime?: string
}

/** What only a running cluster can do. */
export interface Actions {
  readonly calls: CreateApi
  /** Ends the session. */
  logOut(): Promise<void>
  /** Server-side apply of YAML; returns the resulting object, or the one that would result, and whether it did not exist. */
  apply(resource: Resource, object: FlowObject, yaml: string, options: ApplyOptions): Promise<Applied>
  /** The OpenAPI document of a group and version. */
  openApi(groupVersion: Pick<Resource, 'group' | 'version'>): Promise<OpenApiDocument>
  /** Whether a pod reaches a target: `service/web:80`, `pod/<namespace>/a:80`, `10.0.0.1:80`. */
  reach(pod: FlowObject, target: string): Promise<Reach>
  readLog(source: LogSource, options: LogOptions, onText: (text: string) => void, signal: AbortSignal): Promise<void>
  openTerminal(
    pod: FlowObject,
    shell: ShellPlace,
    onOutput: (text: string | Uint8Array) => void,
    onEnd: (reason: string) => void,
  ): Terminal
  /** Advances the time of a cluster with virtual time; undefined if its time cannot be controlled. */
  advanceClock(step: 'event' | number): Promise<ClusterClock | undefined>
  /** The virtual time; undefined if the cluster's time is the machine's. */
  clock(): Promise<ClusterClock | undefined>
}
