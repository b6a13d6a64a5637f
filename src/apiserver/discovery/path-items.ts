// pathItems: operations by path. Parameters that all operations of a path have belong to the path.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Operation } from './openapi-operations.ts'
import type { ParameterType } from './operation-shapes.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: ParameterType
}

export interface PathItem {
  readonly path: string
  /** Sorted by name. */
  readonly parameters: readonly Parameter[]
  readonly operations: readonly PathOperation[]
}

export interface PathOperation {
  readonly operation: Operation
  /** Without those of the path, sorted by name. */
  readonly parameters: readonly Parameter[]
}

/** Sorted by path. */
export function pathItems(operations: readonly Operation[]): readonly PathItem[] {
  const byPath = new Map<string, Operation[]>()
  for (const operation of operations) getOrInsert(byPath, operation.path, () => []).push(operation)
  return [...byPath].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([path, each]) => pathItem(path, each))
}

function pathItem(path: string, operations: readonly Operation[]): PathItem {
  const all = operations.map(parametersOf)
  const [first = [], ...others] = all
  const isShared = ({ name }: Parameter) => others.every((list) => list.some((each) => each.name === name))
  const shared = first.filter(isShared)
  const isOwn = ({ name }: Parameter) => !shared.some((each) => each.name === name)
  return {
    path,
    parameters: shared,
    operations: operations.map((operation, index) => ({ operation, parameters: (all[index] ?? []).filter(isOwn) })),
  }
}

const parametersOf = ({ path, parameters }: Operation): readonly Parameter[] =>
  [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, in: 'path', type: 'string' }) as const),
    ...Object.entries(parameters).map(([name, type]) => ({ name, in: 'query', type }) as const),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))
