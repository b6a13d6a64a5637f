// The usage of pods and nodes as columns of their lists, read from the metrics API at intervals.
import { quantityMillis, quantityUnits } from '../../../schema/scalar/quantity.ts'
import type { Resource } from '../state/resources.ts'
import { rowKey, type Column, type Row, type RowChange } from '../state/rows.ts'
import type { ListDeps } from './follow-list.ts'
import { jsonType, targetOf } from './server-api.ts'

/** Kubelets measure as often. */
const readEveryMs = 15_000
const bytesPerMebibyte = 1 << 20

/** As kubectl top: `12m`, `34Mi`. */
type Usage = readonly [cpu: string, memory: string]
const unknown: Usage = ['', '']
/** As k9s, where the metrics API does not answer. */
const unavailable: Usage = ['n/a', 'n/a']

const usageColumns: readonly Column[] = [
  { name: 'CPU', priority: 0 },
  { name: 'MEM', priority: 0 },
]

interface Measured {
  readonly cpu?: string
  readonly memory?: string
}

interface MetricsList {
  readonly items?: readonly {
    readonly metadata?: { readonly namespace?: string; readonly name?: string }
    /** Of a node. */
    readonly usage?: Measured
    /** Of a pod. */
    readonly containers?: readonly { readonly usage?: Measured }[]
  }[]
}

/** The resource of the metrics API for a list; undefined where there is none. */
export const metricsResource = ({ group, plural }: Resource, resources: readonly Resource[]): Resource | undefined =>
  group === '' && (plural === 'pods' || plural === 'nodes')
    ? resources.find((each) => each.group === 'metrics.k8s.io' && each.plural === plural)
    : undefined

/** The usage of each object by the key of its row. */
export function usageIn({ items = [] }: MetricsList): ReadonlyMap<string, Usage> {
  return new Map(
    items.map(({ metadata = {}, usage, containers = [] }) => {
      const all = usage === undefined ? containers.map((container) => container.usage ?? {}) : [usage]
      const cpu = all.reduce((sum, each) => sum + quantityMillis(each.cpu), 0)
      const bytes = all.reduce((sum, each) => sum + quantityUnits(each.memory), 0)
      const key = rowKey(metadata.namespace ?? '', metadata.name ?? '')
      return [key, [`${cpu}m`, `${Math.round(bytes / bytesPerMebibyte)}Mi`]]
    }),
  )
}

/** Adds the columns before the age. Rows and usage arrive independently of each other. */
export class UsageColumns {
  /** The rows of the server. */
  #rows = new Map<string, Row>()
  #position = 0
  #usage: ReadonlyMap<string, Usage> | undefined = new Map()

  rows(change: RowChange): RowChange {
    if (change.kind === 'change') {
      for (const row of change.set) this.#rows.set(row.key, row)
      for (const key of change.removed) this.#rows.delete(key)
      return { ...change, set: change.set.map((row) => this.#withUsage(row)) }
    }
    this.#rows = new Map(change.rows.map((row) => [row.key, row]))
    const age = change.columns.findIndex(({ name }) => name === 'Age')
    this.#position = age === -1 ? change.columns.length : age
    const columns = change.columns.toSpliced(this.#position, 0, ...usageColumns)
    return { kind: 'replace', columns, rows: change.rows.map((row) => this.#withUsage(row)) }
  }

  /** Undefined: the metrics API does not answer. Returns all rows with the new usage. */
  used(usage: ReadonlyMap<string, Usage> | undefined): RowChange {
    this.#usage = usage
    return { kind: 'change', set: [...this.#rows.values()].map((row) => this.#withUsage(row)), removed: [] }
  }

  #withUsage(row: Row): Row {
    const usage = this.#usage === undefined ? unavailable : (this.#usage.get(row.key) ?? unknown)
    return { ...row, cells: row.cells.toSpliced(this.#position, 0, ...usage) }
  }
}

/** Reads the usage of the objects of a list until the signal is aborted. */
export async function followUsage(
  metrics: Resource,
  place: { readonly namespace: string; readonly labelSelector: string | undefined },
  report: (usage: ReadonlyMap<string, Usage> | undefined) => void,
  { api, clock }: ListDeps,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, labelSelector } = place
  while (!signal.aborted) {
    const list = api.read(targetOf(metrics, { namespace }, { labelSelector }), jsonType, signal) as Promise<MetricsList>
    const usage = await list.then(usageIn).catch(() => undefined)
    if (signal.aborted) return
    report(usage)
    await clock.sleep(readEveryMs, signal).catch(() => undefined)
  }
}
