// The error of `until` at its limit: the last value of the probe, the last object that it read, and its flow.
import { inspect } from 'node:util'
import type { ApiObject } from '../../api/meta/object.ts'

export interface UntilFailure {
  readonly limit: string | number
  /** The last result of the probe. */
  readonly value: unknown
  /** Objects that the probe read, newest last. */
  readonly read: readonly ApiObject[]
  readonly flow: (object: ApiObject) => string
}

/** Only the end of a long flow is shown. */
const flowLinesMax = 60
const inspectOptions = { depth: 6, breakLength: 120, maxArrayLength: 20, maxStringLength: 1_000 } as const

export function untilFailureText({ limit, value, read, flow }: UntilFailure): string {
  const object = read.at(-1)
  const lines = [
    `it did not come to that within ${limit} of the cluster's time`,
    `last value: ${inspect(value, inspectOptions)}`,
  ]
  if (object === undefined)
    return [...lines, "the probe read no object; cluster.flow(kind, name) shows an object's flow"].join('\n')
  const { kind, metadata } = object
  const name = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
  const { spec: _, metadata: __, ...rest } = object as ApiObject & { readonly spec?: unknown }
  const flowLines = flow(object).trimEnd().split('\n')
  const cut = flowLines.length > flowLinesMax ? [`… ${flowLines.length - flowLinesMax} lines before`] : []
  return [
    ...lines,
    `last object read${read.length > 1 ? ` (of ${read.length})` : ''}: ${kind} ${name} ${inspect(rest, inspectOptions)}`,
    `flow of ${kind} ${name}:`,
    ...cut,
    ...flowLines.slice(-flowLinesMax),
  ].join('\n')
}
