// The views: what is shown, and what it shows of. Each has an id; data that arrives for another id is ignored.
import type { FlowMessage } from '../../../flows/flow-messages.ts'
import type { Column, Row, Sort } from './rows.ts'
import type { ObjectRef, Resource } from './resources.ts'

/** What a list is restricted to, in words and for the server. */
export interface Selector {
  /** In the title: `deployment/web`. */
  readonly text: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Owned objects cannot be selected by the server. */
  readonly ownerUid?: string
}

export type TableSource =
  | { readonly kind: 'list'; readonly resource: Resource; readonly namespace: string; readonly selector?: Selector }
  | { readonly kind: 'containers'; readonly pod: ObjectRef }
  /** The contexts of the kubeconfig, and the ports that are forwarded: rows of the state. */
  | { readonly kind: 'contexts' | 'forwards' }

export type DataStatus =
  | { readonly kind: 'loading' }
  | { readonly kind: 'live' }
  | { readonly kind: 'failed'; readonly reason: string }

export interface TableView {
  readonly kind: 'table'
  readonly id: number
  readonly status: DataStatus
  readonly source: TableSource
  readonly columns: readonly Column[]
  readonly rows: ReadonlyMap<string, Row>
  readonly filter: string
  readonly sort: Sort | undefined
  readonly isWide: boolean
  /** So many columns after the name are left out. */
  readonly left: number
  /** The selected row, by key and by its last position. */
  readonly cursor: { readonly key: string; readonly index: number }
  readonly offset: number
}

export const textKinds = ['describe', 'yaml', 'why', 'logs', 'help', 'kinds'] as const
export type TextSource =
  | { readonly kind: 'describe' | 'yaml' | 'why'; readonly object: ObjectRef }
  /** Without a container: all containers. Of a workload: those of all its pods. */
  | { readonly kind: 'logs'; readonly object: ObjectRef; readonly container: string; readonly isPrevious: boolean }
  | { readonly kind: 'help' | 'kinds' }

export interface TextView {
  readonly kind: 'text'
  readonly id: number
  readonly status: DataStatus
  readonly source: TextSource
  readonly lines: readonly string[]
  /** The first line on the screen. */
  readonly offset: number
  /** Keeps the last line on the screen. */
  readonly isFollowing: boolean
  readonly isWrapped: boolean
  readonly left: number
  readonly filter: string
}

/** The messages of an object, or between participants of the map (`a`, `a>b`). */
export interface FlowSubject {
  readonly object: ObjectRef | undefined
  readonly between: string
}

export interface FlowView {
  readonly kind: 'flow'
  readonly id: number
  readonly status: DataStatus
  readonly subject: FlowSubject
  readonly messages: readonly FlowMessage[]
  readonly offset: number
  readonly isFollowing: boolean
  readonly left: number
}

export interface MapLine {
  /** `scheduler>API Server`. */
  readonly id: string
  readonly from: string
  readonly to: string
  readonly perSecond: number
  readonly errorsPerSecond: number
}

export interface MapView {
  readonly kind: 'map'
  readonly id: number
  readonly status: DataStatus
  /** The participants of each column, from clients to nodes. */
  readonly columns: readonly (readonly string[])[]
  /** The busiest line first. */
  readonly lines: readonly MapLine[]
  readonly cursor: number
  readonly offset: number
}

export type View = TableView | TextView | FlowView | MapView

const loading: DataStatus = { kind: 'loading' }

export const tableView = (id: number, source: TableSource): TableView => ({
  kind: 'table',
  id,
  source,
  status: loading,
  columns: [],
  rows: new Map(),
  filter: '',
  sort: undefined,
  isWide: false,
  left: 0,
  cursor: { key: '', index: 0 },
  offset: 0,
})

export const textView = (id: number, source: TextSource): TextView => ({
  kind: 'text',
  id,
  source,
  status: loading,
  lines: [],
  offset: 0,
  left: 0,
  filter: '',
  isFollowing: source.kind === 'logs',
  // Sentences are wrapped, lines of documents are not.
  isWrapped: source.kind === 'why',
})

export const flowView = (id: number, subject: FlowSubject): FlowView => ({
  kind: 'flow',
  id,
  subject,
  status: loading,
  messages: [],
  offset: 0,
  left: 0,
  isFollowing: true,
})

export const mapView = (id: number): MapView => ({
  kind: 'map',
  id,
  status: loading,
  columns: [],
  lines: [],
  cursor: 0,
  offset: 0,
})
