// The state of the terminal view, its inputs, and what it requests of the outside. update.ts decides; nothing here acts.
import type { FlowMessage } from '../../../flows/flow-messages.ts'
import type { Key } from '../keys/key-decoder.ts'
import type { RowChange } from './rows.ts'
import type { ObjectRef, Resource } from './resources.ts'
import type { MapLine, TableSource, View } from './views.ts'

export interface ClusterFacts {
  readonly context: string
  readonly server: string
  readonly version: string
  /** The namespace of the context, or that of `-n`. */
  readonly namespace: string
  /** Why there are no flows; undefined where they are recorded. */
  readonly missing: string | undefined
}

export type Prompt =
  | { readonly kind: 'command'; readonly text: string }
  | { readonly kind: 'filter'; readonly text: string; readonly former: string }
  | {
      /** A number of replicas, or ports. */
      readonly kind: 'scale' | 'forward'
      readonly object: ObjectRef
      readonly text: string
      /** The text is a proposal: the first character that is typed replaces it. */
      readonly isProposed: boolean
    }
  | {
      readonly kind: 'confirm'
      readonly action: 'delete' | 'restart'
      readonly object: ObjectRef
      readonly uid: string
    }

export interface KubeContext {
  readonly name: string
  readonly cluster: string
  readonly user: string
  readonly namespace: string
}

/** A port of a pod that this machine listens on, by kubectl in the background. */
export interface Forward {
  readonly id: number
  readonly object: ObjectRef
  readonly ports: string
  readonly status: 'Starting' | 'Running' | 'Failed'
  /** What kubectl printed. */
  readonly detail: string
}

export interface Notice {
  readonly text: string
  readonly isError: boolean
}

export interface State {
  readonly cluster: ClusterFacts
  readonly contexts: readonly KubeContext[]
  readonly resources: readonly Resource[]
  readonly forwards: readonly Forward[]
  /** The namespace of new lists; empty for all. */
  readonly namespace: string
  /** The namespaces of the keys from 1. */
  readonly favorites: readonly string[]
  /** The last one is shown. Never empty. */
  readonly views: readonly View[]
  readonly prompt: Prompt | undefined
  readonly notice: Notice | undefined
  readonly width: number
  readonly height: number
  readonly nextId: number
}

export type Input =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'resize'; readonly width: number; readonly height: number }
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'forwarded'; readonly id: number; readonly status: Forward['status']; readonly detail: string }
  | Data

/** What arrives for a view. */
export type Data =
  | { readonly kind: 'rows'; readonly id: number; readonly change: RowChange }
  | { readonly kind: 'text'; readonly id: number; readonly lines: readonly string[] }
  | { readonly kind: 'messages'; readonly id: number; readonly messages: readonly FlowMessage[] }
  | {
      readonly kind: 'map'
      readonly id: number
      readonly columns: readonly (readonly string[])[]
      readonly lines: readonly MapLine[]
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
  /** Where an object leads to; undefined if nowhere. */
  | { readonly kind: 'drilled'; readonly id: number; readonly of: ObjectRef; readonly to: TableSource | undefined }

export type Effect =
  | { readonly kind: 'drill'; readonly id: number; readonly object: ObjectRef }
  /** `isNow` ends the containers at once. */
  | { readonly kind: 'delete'; readonly object: ObjectRef; readonly uid: string; readonly isNow: boolean }
  | { readonly kind: 'shell'; readonly object: ObjectRef; readonly container: string }
  | { readonly kind: 'edit'; readonly object: ObjectRef }
  | { readonly kind: 'scale'; readonly object: ObjectRef; readonly replicas: number }
  | { readonly kind: 'restart'; readonly object: ObjectRef }
  | { readonly kind: 'forward'; readonly id: number; readonly object: ObjectRef; readonly ports: string }
  | { readonly kind: 'stop-forward'; readonly id: number }
  /** Shows another cluster. */
  | { readonly kind: 'context'; readonly name: string }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'quit' }

export interface Step {
  readonly state: State
  readonly effects: readonly Effect[]
}

/** Lines above the body: facts and keys if there is room for them, and the title. */
export const headerRows = ({ height }: Pick<State, 'height'>): number => (height >= 16 ? 3 : 0)

/** Lines of the content: without header, title and the last line, and without the column names of lists. */
export const bodyRows = ({ height }: Pick<State, 'height'>, view: View): number => {
  const chart = view.kind === 'map' ? mapRows({ height }) : 0
  return Math.max(
    1,
    height - headerRows({ height }) - 2 - (view.kind === 'table' || view.kind === 'map' ? 1 : 0) - chart,
  )
}

/** The rows of participants above the lines of the map, with their heading. */
export const mapRows = ({ height }: Pick<State, 'height'>): number =>
  height >= 20 ? Math.floor((height - 6) / 3) + 1 : 0

export const shownView = ({ views }: State): View => {
  const view = views.at(-1)
  if (view === undefined) throw new Error('there is always a view')
  return view
}
