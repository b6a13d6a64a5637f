// The recorded flow events of a cluster that runs elsewhere.
import { flowEventsPath } from '../api/flow-wire.ts'
import type { FlowEvent } from '../base/flow.ts'
import { fetchOwnPath } from './own-path.ts'

export async function fetchFlowEvents(kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[]> {
  const answer = (await fetchOwnPath(kubeconfig, flowEventsPath, signal)) as { events: FlowEvent[] } | undefined
  return answer?.events ?? []
}
