// The data of a recorded run, which is embedded in the report of a test.
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import {
  resourceId,
  type ClusterObject,
  type FoundObject,
  type HistoryEntry,
  type ListOptions,
  type Resource,
  type RevisionRange,
  type RowChange,
  type SchedulingDecision,
  type Source,
  type Table,
  type TableRow,
} from './source.ts'

/** A retained revision. The object and the cells of the present one are those of its row in the table. */
export type RecordedRevision = Pick<HistoryEntry, 'revision' | 'at' | 'author'> &
  ({ readonly state: 'present' | 'deleted' } | ({ readonly state: 'past' } & TableRow))

/** What a report contains. Maps are arrays of pairs, because names of objects are chosen by users. */
export interface RecordedRun {
  readonly title: string
  /** The error of the failed test, if there is one. */
  readonly failure?: string
  readonly events: readonly FlowEvent[]
  readonly resources: readonly Resource[]
  readonly tables: readonly (readonly [resource: string, table: Table])[]
  /** The retained revisions of each object, the oldest first, by resource and key of an object. */
  readonly history: readonly (readonly [
    resource: string,
    objects: readonly (readonly [object: string, revisions: readonly RecordedRevision[]])[],
  ])[]
  /** The revisions for which the cluster can be shown; undefined if nothing is retained. */
  readonly revisions?: RevisionRange | undefined
  /** By key of an object: `pods/default/web`. */
  readonly explanations: readonly (readonly [object: string, sentences: readonly string[]])[]
  readonly decisions: readonly (readonly [object: string, decision: SchedulingDecision])[]
}

/** Objects that a search returns. */
const foundMax = 50

export const objectKeyOf = ({ resource, namespace, name }: FlowObject): string => `${resource}/${namespace}/${name}`

export class RecordedSource implements Source {
  readonly title: string
  readonly isLive = false
  readonly hasFlows = true
  readonly actions = undefined
  readonly summaries = undefined
  readonly #run: RecordedRun
  readonly #tables: ReadonlyMap<string, Table>
  readonly #history: ReadonlyMap<string, ReadonlyMap<string, readonly RecordedRevision[]>>
  readonly #explanations: ReadonlyMap<string, readonly string[]>
  readonly #decisions: ReadonlyMap<string, SchedulingDecision>

  constructor(run: RecordedRun) {
    this.title = run.title
    this.#run = run
    this.#tables = new Map(run.tables)
    this.#history = new Map(run.history.map(([resource, objects]) => [resource, new Map(objects)]))
    this.#explanations = new Map(run.explanations)
    this.#decisions = new Map(run.decisions)
  }

  async followEvents(onEvents: (events: readonly FlowEvent[], gap: boolean) => void): Promise<void> {
    onEvents(this.#run.events, false)
  }

  /** Everything is passed on at once. */
  async pastEvents(): Promise<undefined> {
    return undefined
  }

  async resources(): Promise<readonly Resource[]> {
    return this.#run.resources
  }

  async user(): Promise<undefined> {
    return undefined
  }

  async count(resource: Resource, namespace: string): Promise<number> {
    return rowsIn(this.#tableAt(resource, undefined), namespace).length
  }

  async search(text: string, namespace: string): Promise<readonly FoundObject[]> {
    const words = text.toLowerCase().split(/\s+/)
    return this.#run.resources
      .flatMap((resource) =>
        rowsIn(this.#tableAt(resource, undefined), namespace).map(({ object: { metadata } }) => ({
          resource: resourceId(resource),
          namespace: metadata.namespace ?? '',
          name: metadata.name,
        })),
      )
      .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
      .slice(0, foundMax)
  }

  async followTable(
    resource: Resource,
    { namespace, revision }: Pick<ListOptions, 'namespace' | 'revision'>,
    onChange: (change: RowChange) => void,
  ): Promise<void> {
    const table = this.#tableAt(resource, revision)
    onChange({ kind: 'replace', table: { ...table, rows: rowsIn(table, namespace) } })
  }

  async list(resource: Resource, { namespace, revision }: ListOptions): Promise<readonly ClusterObject[]> {
    return rowsIn(this.#tableAt(resource, revision), namespace).map(({ object }) => object)
  }

  async history(resource: Resource, object: FlowObject): Promise<readonly HistoryEntry[]> {
    const revisions = this.#history.get(resourceId(resource))?.get(objectKeyOf(object)) ?? []
    const row = this.#tableAt(resource, undefined).rows.find((each) => keyOfRow(resource, each) === objectKeyOf(object))
    return revisions.map((each) => ({
      revision: each.revision,
      at: each.at,
      author: each.author,
      object: rowAt(each, row)?.object,
    }))
  }

  async why(_resource: Resource, object: FlowObject): Promise<readonly string[]> {
    return this.#explanations.get(objectKeyOf(object)) ?? []
  }

  async decision(pod: FlowObject): Promise<SchedulingDecision | undefined> {
    return this.#decisions.get(objectKeyOf(pod))
  }

  async revisions(): Promise<RevisionRange | undefined> {
    return this.#run.revisions
  }

  /** The objects as they were at a revision. */
  #tableAt(resource: Resource, revision: number | undefined): Table {
    const table = this.#tables.get(resourceId(resource)) ?? { columns: [], rows: [] }
    if (revision === undefined) return table
    const present = new Map(table.rows.map((row) => [keyOfRow(resource, row), row]))
    const rows = [...(this.#history.get(resourceId(resource)) ?? [])].flatMap(([key, revisions]) => {
      const last = revisions.findLast((each) => each.revision <= revision)
      return (last && rowAt(last, present.get(key))) ?? []
    })
    return { columns: table.columns, rows }
  }
}

/** The rows of a namespace, and those of objects without one; all if it is empty. */
const rowsIn = ({ rows }: Table, namespace: string): readonly TableRow[] =>
  namespace === '' ? rows : rows.filter(({ object: { metadata } }) => (metadata.namespace ?? namespace) === namespace)

const keyOfRow = ({ plural }: Resource, { object: { metadata } }: TableRow): string =>
  objectKeyOf({ resource: plural, namespace: metadata.namespace ?? '', name: metadata.name })

function rowAt(revision: RecordedRevision, present: TableRow | undefined): TableRow | undefined {
  if (revision.state === 'past') return revision
  return revision.state === 'present' ? present : undefined
}
