// Table: lists as kubectl shows them: columns by the kind, cells by the object.
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

export const tableColumns = (kind: Kind): object[] =>
  kind.columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority }))

export function tableOf(
  kind: Kind,
  objects: readonly ApiObject[],
  metadata: object,
  { include, nowMs, withColumns }: { include: IncludeObject; nowMs: number; withColumns: boolean },
): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: withColumns ? tableColumns(kind) : null,
    rows: inRowOrder(kind, objects).map((object) => ({
      cells: kind.columns.map((column) => column.cell(object, nowMs)),
      ...(include === 'None' ? {} : { object: include === 'Object' ? object : partialMetadata(object) }),
    })),
  }
}

const inRowOrder = (kind: Kind, objects: readonly ApiObject[]): readonly ApiObject[] =>
  kind.compareRows === undefined ? objects : objects.toSorted((a, b) => kind.compareRows?.(a, b) ?? 0)

export const partialMetadata = ({ metadata }: ApiObject): object => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
})
