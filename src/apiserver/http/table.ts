// Table: lists as kubectl prints them: columns by kind, cells by object.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
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

export function tableOf(
  kind: Kind,
  objects: readonly ApiObject[],
  metadata: object,
  { include, nowMs, withColumns, version }: TableOptions,
): object {
  return {
    kind: 'Table',
    apiVersion: metaVersion(version),
    metadata,
    columnDefinitions: withColumns ? tableColumns(kind) : null,
    rows: inRowOrder(kind, objects).map((object) => ({
      cells: kind.columns.map((column) => column.cell(object, nowMs)),
      object: include === 'None' ? null : include === 'Object' ? object : partialMetadata(object, version),
    })),
  }
}

const inRowOrder = (kind: Kind, objects: readonly ApiObject[]): readonly ApiObject[] =>
  kind.compareRows === undefined ? objects : objects.toSorted((a, b) => kind.compareRows?.(a, b) ?? 0)

export const metaVersion = (version: ResponseFormat['version']): string => `meta.k8s.io/${version ?? 'v1'}`

export const partialMetadata = (
  { metadata }: { readonly metadata: object },
  version?: ResponseFormat['version'],
): object => ({ kind: 'PartialObjectMetadata', apiVersion: metaVersion(version), metadata })
