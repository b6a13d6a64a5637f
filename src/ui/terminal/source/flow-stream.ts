// followFlow: the flow events of the server, as they are recorded. The stream of the web page shows a user what the user
// may see, on the server's machine only; elsewhere the whole record is followed, which takes a permission of its own.
import { flowEventsPath } from '../../../api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../../api/errors/status-error.ts'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { lineReader } from '../../page/source/json-lines.ts'
import { jsonType, type ServerApi } from './server-api.ts'

const past = 10_000
const paths = [`/ui/api/stream?past=${past}`, `${flowEventsPath}?follow=true`] as const

export const noFlowsText = 'this API server records no flows: it is not Coxswain'

/** A line is an event of the record, or a line of the page's stream. */
type Line = FlowEvent | { readonly kind: string; readonly event?: FlowEvent; readonly nowMs?: number }

export interface FlowObserver {
  events(events: readonly FlowEvent[]): void
  /** The time of the server. */
  time(nowMs: number): void
}

export async function followFlow(api: ServerApi, observer: FlowObserver, signal: AbortSignal): Promise<void> {
  const lines = lineReader((values) => {
    const received: FlowEvent[] = []
    for (const line of values as readonly Line[]) {
      if (!('kind' in line)) received.push(line)
      else if (line.event !== undefined) received.push(line.event)
      else if (line.nowMs !== undefined) observer.time(line.nowMs)
    }
    if (received.length > 0) observer.events(received)
  })
  for await (const text of flowText(api, signal)) lines(text)
}

async function* flowText(api: ServerApi, signal: AbortSignal): AsyncGenerator<string> {
  for (const path of paths)
    try {
      yield* api.stream(path, jsonType, signal)
      return
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error
    }
  throw new Error(noFlowsText)
}

/** Why there are no flows; undefined where they are recorded, or where that cannot be known. */
export async function missingFlows(api: ServerApi, signal: AbortSignal): Promise<string | undefined> {
  const stop = new AbortController()
  try {
    // The first text is enough. The stream ends by itself only when it is aborted.
    for await (const text of flowText(api, AbortSignal.any([signal, stop.signal]))) if (text !== '') stop.abort()
    return undefined
  } catch (error) {
    return error instanceof Error && error.message === noFlowsText ? noFlowsText : undefined
  }
}
