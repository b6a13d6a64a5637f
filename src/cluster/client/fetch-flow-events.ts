// Fetches the recorded flow events of a running cluster.
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { fetchCoxswainPath, streamCoxswainPath } from './coxswain-path.ts'

/** Undefined when the API server is not Coxswain. */
export async function findFlowEvents(kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[] | undefined> {
  const answer = (await fetchCoxswainPath(kubeconfig, flowEventsPath, signal)) as { events: FlowEvent[] } | undefined
  return answer?.events
}

export const fetchFlowEvents = async (kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[]> =>
  (await findFlowEvents(kubeconfig, signal)) ?? []

/**
 * Yields the record so far, then further events, until the signal is aborted or the server ends. A call is repeated
 * when it has finished.
 */
export async function* followFlowEvents(kubeconfig: string, signal: AbortSignal): AsyncGenerator<readonly FlowEvent[]> {
  let rest = ''
  const events: FlowEvent[] = []
  for await (const piece of streamCoxswainPath(kubeconfig, `${flowEventsPath}?follow=true`, signal)) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') events.push(JSON.parse(line) as FlowEvent)
      else if (events.length > 0) yield events.splice(0)
    }
  }
}
