// Table: lists as kubectl prints them: columns by kind, cells by object.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { zeroStruct } from '../../schema/descriptor/zero.ts'
import type { ResponseFormat } from './media-type.ts'

export type IncludeObjectPolicy = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  readonly include: IncludeObjectPolicy
  readonly nowMs: number
  readonly withColumns: boolean
  readonly version?: ResponseFormat['version']
}

export const tableColumns = (kind: Kind): object[] =>
  kind.columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority }))

export function tableOf(kind: Kind, objects: readonly ApiObject[], metadata: object, options: TableOptions): object {
  const rows = inRowOrder(kind, objects).map((object) => rowOf(cellsOf(kind, object, options), object, options))
  return tableWith(kind, rows, metadata, options)
}

/** As upstream: the row of an object that has nothing but these metadata, in the version that is stored. */
export function bookmarkTable(kind: Kind, metadata: object, resourceVersion: string, options: TableOptions): object {
  const { kind: name, apiVersion, custom, storedAs } = kind
  const printed = storedAs?.kind ?? kind
  const fields = custom === undefined ? zeroStruct(printed.message) : {}
  const cells = cellsOf(printed, { ...fields, metadata: { name: '', ...metadata } } as unknown as ApiObject, options)
  const row = rowOf(cells, { kind: name, apiVersion, metadata }, options)
  return tableWith(kind, [row], { resourceVersion }, options)
}

const tableWith = (
  kind: Kind,
  rows: readonly object[],
  metadata: object,
  { withColumns, version }: TableOptions,
): object => ({
  kind: 'Table',
  apiVersion: metaVersion(version),
  metadata,
  columnDefinitions: withColumns ? tableColumns(kind) : null,
  rows,
})

const cellsOf = ({ columns }: Kind, object: ApiObject, { nowMs }: TableOptions): readonly unknown[] =>
  columns.map((column) => column.cell(object, nowMs))

const rowOf = (
  cells: readonly unknown[],
  object: Pick<ApiObject, 'kind' | 'apiVersion'> & { readonly metadata: object },
  { include, version }: TableOptions,
): object => ({
  cells,
  object: include === 'None' ? null : include === 'Object' ? object : partialMetadata(object, version),
})

const inRowOrder = (kind: Kind, objects: readonly ApiObject[]): readonly ApiObject[] =>
  kind.compareRows === undefined ? objects : objects.toSorted((a, b) => kind.compareRows?.(a, b) ?? 0)

export const metaVersion = (version: ResponseFormat['version']): string => `meta.k8s.io/${version ?? 'v1'}`

export const partialMetadata = (
  { metadata }: { readonly metadata: object },
  version?: ResponseFormat['version'],
): object => ({ kind: 'PartialObjectMetadata', apiVersion: metaVersion(version), metadata })
