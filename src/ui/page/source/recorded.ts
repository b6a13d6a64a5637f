// The data of a recorded run, which is embedded in the report of a test.
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import type {
  ClusterObject,
  HistoryEntry,
  Resource,
  RevisionRange,
  RowChange,
  SchedulingDecision,
  Source,
  Table,
} from './source.ts'
import { resourceId } from './source.ts'

/** What a report contains. Maps are arrays of pairs, because names of objects are chosen by users. */
export interface RecordedRun {
  readonly title: string
  /** The error of the failed test, if there is one. */
  readonly failure?: string
  readonly events: readonly FlowEvent[]
  readonly resources: readonly Resource[]
  readonly tables: readonly (readonly [resource: string, table: Table])[]
  /** By key of an object: `pods/default/web`. */
  readonly history: readonly (readonly [object: string, entries: readonly HistoryEntry[]])[]
  readonly explanations: readonly (readonly [object: string, sentences: readonly string[]])[]
  readonly decisions: readonly (readonly [object: string, decision: SchedulingDecision])[]
}

export const objectKeyOf = ({ resource, namespace, name }: FlowObject): string => `${resource}/${namespace}/${name}`

export class RecordedSource implements Source {
  readonly title: string
  readonly isLive = false
  readonly actions = undefined
  readonly #run: RecordedRun
  readonly #tables: ReadonlyMap<string, Table>
  readonly #history: ReadonlyMap<string, readonly HistoryEntry[]>
  readonly #explanations: ReadonlyMap<string, readonly string[]>
  readonly #decisions: ReadonlyMap<string, SchedulingDecision>

  constructor(run: RecordedRun) {
    this.title = run.title
    this.#run = run
    this.#tables = new Map(run.tables)
    this.#history = new Map(run.history)
    this.#explanations = new Map(run.explanations)
    this.#decisions = new Map(run.decisions)
  }

  async followEvents(onEvents: (events: readonly FlowEvent[], gap: boolean) => void): Promise<void> {
    onEvents(this.#run.events, false)
  }

  async resources(): Promise<readonly Resource[]> {
    return this.#run.resources
  }

  async followTable(
    resource: Resource,
    revision: number | undefined,
    onChange: (change: RowChange) => void,
  ): Promise<void> {
    const table = this.#tables.get(resourceId(resource)) ?? { columns: [], rows: [] }
    onChange({ kind: 'replace', table: revision === undefined ? table : this.#tableAt(resource, table, revision) })
  }

  async list(resource: Resource, namespace: string): Promise<readonly ClusterObject[]> {
    const { rows } = this.#tables.get(resourceId(resource)) ?? { rows: [] }
    return rows
      .map(({ object }) => object)
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
  }

  async history(_resource: Resource, object: FlowObject): Promise<readonly HistoryEntry[]> {
    return this.#history.get(objectKeyOf(object)) ?? []
  }

  async why(_resource: Resource, object: FlowObject): Promise<readonly string[]> {
    return this.#explanations.get(objectKeyOf(object)) ?? []
  }

  async decision(pod: FlowObject): Promise<SchedulingDecision | undefined> {
    return this.#decisions.get(objectKeyOf(pod))
  }

  async revisions(): Promise<RevisionRange | undefined> {
    const marks = this.#run.history
      .flatMap(([, entries]) => entries.map(({ revision, at }) => ({ revision, atMs: Date.parse(at) || undefined })))
      .toSorted((a, b) => a.revision - b.revision)
    const [oldest, newest] = [marks[0], marks.at(-1)]
    return oldest && newest && { oldest: oldest.revision, newest: newest.revision, marks }
  }

  /** The objects as they were at a revision. Cells are known of the last state only, so the name is shown. */
  #tableAt({ plural }: Resource, { columns }: Table, revision: number): Table {
    const objects = [...this.#history].flatMap(([key, entries]) => {
      if (!key.startsWith(`${plural}/`)) return []
      return entries.findLast((entry) => entry.revision <= revision)?.object ?? []
    })
    return {
      columns: columns.slice(0, 1),
      rows: objects.map((object) => ({ cells: [object.metadata.name], object })),
    }
  }
}
