// Everything that is loaded about the selected object and event: explanation, history, events, decision.
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import type { Reach } from '../../../flows/reach/explain-path.ts'
import { lineDiff, type DiffLine } from '../model/line-diff.ts'
import { yamlText } from '../model/yaml-text.ts'
import type { FieldError } from '../model/editing/field-places.ts'
import { RequestError, type RejectedField } from '../source/requests.ts'
import type { ClusterObject, HistoryEntry, Resource, SchedulingDecision, Source } from '../source/source.ts'

/** Differences of writes that are kept. */
const writesMax = 200

const eventResource: Resource = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  isNamespaced: true,
  verbs: [],
}

/** An edit: the text, and what the server would make of it. */
export interface Edit {
  readonly text: string
  readonly diff: readonly DiffLine[] | undefined
  /** Fields of other managers that it would change. */
  readonly conflicts: readonly RejectedField[]
  /** The fields that the server has rejected, conflicts included. */
  readonly errors: readonly FieldError[]
  /** Whether the difference includes fields that are taken over from other managers. */
  readonly takesOver: boolean
}

export class ObjectDetails {
  resource: Resource | undefined
  object: FlowObject | undefined
  why: readonly string[] = []
  history: readonly HistoryEntry[] = []
  events: readonly ClusterObject[] = []
  decision: SchedulingDecision | undefined
  edit: Edit | undefined
  /** Whether the pod reaches a target; its path is undefined while it is found out. */
  reach: { readonly target: string; readonly path?: Reach; readonly failure?: string } | undefined
  readonly #source: Source
  readonly #changed: () => void
  readonly #writes = new Map<number, readonly DiffLine[]>()
  #loading = new AbortController()

  constructor(source: Source, changed: () => void) {
    this.#source = source
    this.#changed = changed
  }

  close(): void {
    this.#loading.abort()
  }

  select(resource: Resource | undefined, object: FlowObject | undefined, revision: number | undefined): void {
    this.close()
    Object.assign(this, {
      resource,
      object,
      why: [],
      history: [],
      events: [],
      decision: undefined,
      edit: undefined,
      reach: undefined,
    })
    this.#loading = new AbortController()
    if (resource === undefined || object === undefined) return
    const source = this.#source
    if (revision === undefined) this.#load(source.why(resource, object), (why) => (this.why = why))
    this.#load(source.history(resource, object), (history) => (this.history = history))
    if (resource.plural === 'pods') this.#load(source.decision(object), (decision) => (this.decision = decision))
    const selector = `involvedObject.name=${object.name}`
    this.#load(
      source.list(eventResource, { namespace: object.namespace, revision, fieldSelector: selector }),
      (events) => {
        this.events = events.filter((each) => involvedName(each) === object.name)
      },
    )
  }

  /** What a write changed: the difference to the former revision of its object. */
  write(event: FlowEvent): readonly DiffLine[] | undefined {
    return this.#writes.get(event.id)
  }

  loadWrite(event: FlowEvent, resource: Resource | undefined): void {
    const { arrow, object, revision, id } = event
    if (arrow !== 'persist' || object === undefined || resource === undefined || this.#writes.has(id)) return
    if (this.#writes.size > writesMax) this.#writes.clear()
    this.#load(this.#source.history(resource, object), (history) => {
      const at = history.findIndex((entry) => entry.revision === revision)
      this.#writes.set(id, at < 0 ? [] : historyDiff(history, at))
    })
  }

  /** Finds out whether the pod reaches a target, once for each. */
  findReach(target: string): void {
    const { object } = this
    const { actions } = this.#source
    if (this.reach?.target === target || object === undefined || actions === undefined) return
    this.reach = { target }
    const show = (result: Pick<NonNullable<ObjectDetails['reach']>, 'path' | 'failure'>): void => {
      if (this.reach?.target === target && this.object === object) this.reach = { target, ...result }
      this.#changed()
    }
    void actions.reach(object, target).then(
      (path) => show({ path }),
      (error: Error) => show({ failure: error.message }),
    )
  }

  /** Finds it out again. */
  forgetReach(): void {
    this.reach = undefined
    this.#changed()
  }

  setEdit(text: string | undefined): void {
    this.edit = text === undefined ? undefined : newEdit(text)
    this.#changed()
  }

  /** Sends the edit as a dry run and shows what would change, or applies it. */
  async applyEdit(
    current: ClusterObject,
    isDryRun: boolean,
    isForced: boolean,
  ): Promise<'shown' | 'applied' | 'conflict'> {
    const { edit, resource, object } = this
    const { actions } = this.#source
    if (edit === undefined || resource === undefined || object === undefined || actions === undefined)
      throw new Error('No object is selected.')
    try {
      const { object: result } = await actions.apply(resource, object, edit.text, { isDryRun, isForced })
      const diff = lineDiff(yamlText(editable(current)), yamlText(editable(result)))
      this.edit = isDryRun ? { ...newEdit(edit.text), diff, takesOver: isForced } : undefined
      return isDryRun ? 'shown' : 'applied'
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      const { conflicts, fields } = error
      const errors = fields.map((field) => ({ ...field, document: 0 }))
      this.edit = { ...newEdit(edit.text), conflicts, errors }
      if (conflicts.length === 0) throw error
      return 'conflict'
    } finally {
      this.#changed()
    }
  }

  #load<T>(loading: Promise<T>, set: (value: T) => void): void {
    const { signal } = this.#loading
    const show = async (): Promise<void> => {
      const value = await loading
      if (signal.aborted) return
      set(value)
      this.#changed()
    }
    // What is not available, such as the history of an older server, is not shown.
    void show().catch(() => undefined)
  }
}

const noErrors: readonly FieldError[] = []

export const newEdit = (text: string): Edit => ({
  text,
  diff: undefined,
  conflicts: [],
  errors: noErrors,
  takesOver: false,
})

export const involvedName = (event: ClusterObject): string | undefined =>
  (event as { involvedObject?: { name?: string } }).involvedObject?.name

/** The difference between an entry of the history and the one before it. */
export function historyDiff(history: readonly HistoryEntry[], at: number): DiffLine[] {
  const text = (entry: HistoryEntry | undefined): string =>
    entry?.object === undefined ? '' : yamlText(withoutManagedFields(entry.object))
  return lineDiff(text(history[at - 1]), text(history[at]))
}

export function withoutManagedFields<T extends ClusterObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** What a user edits: without status and without what the server sets. */
export function editable(object: ClusterObject): ClusterObject {
  const { status: _, ...rest } = object
  const { name, namespace, labels, annotations } = object.metadata
  return {
    ...rest,
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }), ...(annotations && { annotations }) },
  }
}
