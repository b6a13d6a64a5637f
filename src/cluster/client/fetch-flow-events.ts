// Fetches the recorded flow events of a running cluster.
import { append } from '../../base/collections/append.ts'
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { fetchCoxswainPath, streamCoxswainPath } from './coxswain-path.ts'

/** What the API servers of a cluster have recorded. */
export interface FlowRecord {
  readonly events: FlowEvent[]
  /** For people: which servers' records are missing, and why. */
  readonly notes: readonly string[]
}

/** Undefined when the API server is not Coxswain. */
export async function findFlowRecord(kubeconfig: string, signal: AbortSignal): Promise<FlowRecord | undefined> {
  const answer = await fetchCoxswainPath(kubeconfig, flowEventsPath, signal)
  if (answer === undefined) return undefined
  const { events, missing = [] } = answer as { events: FlowEvent[]; missing?: readonly string[] }
  return { events, notes: missing.map((server) => `the messages of this server are missing: ${server}`) }
}

export const fetchFlowEvents = async (kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[]> =>
  (await findFlowRecord(kubeconfig, signal))?.events ?? []

/**
 * Yields the record so far, then further events, until the signal is aborted or the server ends. A call is repeated
 * when it has finished.
 */
export async function* followFlowEvents(kubeconfig: string, signal: AbortSignal): AsyncGenerator<readonly FlowEvent[]> {
  const gathered: FlowEvent[] = []
  const text = streamCoxswainPath(kubeconfig, `${flowEventsPath}?follow=true`, signal)
  for await (const { events, isDrained } of readFlowEvents(text)) {
    append(gathered, events)
    if (isDrained && gathered.length > 0) yield gathered.splice(0)
  }
}

/** Events have texts of limited length. */
const lineCharsMax = 65_536

/** The events in the response of a server that is followed; drained where it has sent everything that exists so far. */
export async function* readFlowEvents(
  text: AsyncIterable<string>,
): AsyncGenerator<{ readonly events: readonly FlowEvent[]; readonly isDrained: boolean }> {
  let rest = ''
  for await (const piece of text) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineCharsMax)
      throw new Error(`a line of the flow record has more than ${lineCharsMax} characters`)
    const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as FlowEvent)
    if (lines.length > 0) yield { events, isDrained: lines.includes('') }
  }
}
