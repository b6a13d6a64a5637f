// The recorded lifecycle of an object in a running cluster, in one namespace or in every namespace with an object of
// that name.
import { context } from '../../base/observability/context.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { findFlowRecord } from '../../cluster/client/fetch-flow-events.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { flowTreesOf, type FlowNode } from '../../flows/flow-graph.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import { UsageError } from '../command/command.ts'
import type { NamedObject } from '../options/named-object.ts'

export interface RecordedLifecycle {
  readonly namespace: string
  readonly roots: readonly FlowNode[]
}

export interface RecordedLifecycles {
  readonly lives: readonly RecordedLifecycle[]
  /** What the record does not contain. */
  readonly notes: readonly string[]
}

/** Fails when nothing is recorded. Without a namespace all namespaces are searched. */
export async function recordedLifecycles(
  { kind, name }: NamedObject,
  namespace: string | undefined,
  kubeconfig: string,
  signal: AbortSignal,
): Promise<RecordedLifecycles> {
  const record = await findFlowRecord(kubeconfig, signal)
  if (record === undefined) throw new UsageError('this API server records no flows: it is not Coxswain')
  const { events, notes } = record
  const resource = kind.plural
  const homes = events.flatMap(({ object }) =>
    object?.resource === resource && object.name === name ? [object.namespace] : [],
  )
  const lives = (namespace === undefined ? [...new Set(homes)].toSorted() : [namespace])
    .map((home) => ({ namespace: home, roots: flowTreesOf(events, { resource, namespace: home, name }) }))
    .filter(({ roots }) => roots.length > 0)
  if (lives.length > 0) return { lives, notes }
  await using remote = await openRemote(kubeconfig, signal)
  const { items } = await remote.clientAs('coxswain flow').metadataOf(kind).list({}, context(signal))
  const homeOf = (home = ''): string => (namespace === undefined ? '' : home)
  const wanted = { namespace: homeOf(namespace), name }
  const known = items.map(({ metadata }) => ({ namespace: homeOf(metadata.namespace), name: metadata.name }))
  const isThere = known.some((each) => each.name === name && each.namespace === wanted.namespace)
  if (!isThere) throw new UsageError(missingObjectText(kind, wanted, known))
  throw new UsageError([notRecordedText(`${kind.singular}/${name}`, events), ...notes].join('\n'))
}

/** The record is in the memory of the API server: it begins with its start, or with the oldest message that it has kept. */
export function notRecordedText(object: string, events: readonly Pick<FlowEvent, 'atMs'>[]): string {
  const [first] = events
  if (first === undefined) return `nothing is recorded about ${object}: the record is empty (up --flow-events)`
  return `nothing is recorded about ${object}: the record begins at ${rfc3339(first.atMs)}, when the API server started or the oldest message that it keeps was sent (up --flow-events)`
}
