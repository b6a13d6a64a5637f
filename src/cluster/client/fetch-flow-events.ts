// The recorded flow events of a cluster that runs elsewhere.
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { fetchCoxswainPath, streamCoxswainPath } from './coxswain-path.ts'

/** Undefined where the API server is not Coxswain's. */
export async function findFlowEvents(kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[] | undefined> {
  const answer = (await fetchCoxswainPath(kubeconfig, flowEventsPath, signal)) as { events: FlowEvent[] } | undefined
  return answer?.events
}

export const fetchFlowEvents = async (kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[]> =>
  (await findFlowEvents(kubeconfig, signal)) ?? []

/**
 * The record so far in one, then what is added to it, until the signal or the server's end; a call comes again once
 * answered.
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
