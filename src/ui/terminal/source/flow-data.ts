// The data of diagrams and of the map: messages and rates of the flow record. They are computed at most five times a
// second, however many messages there are.
import { errorText } from '../../../base/observability/log.ts'
import { FlowRecord } from '../../page/model/flows/flow-record.ts'
import { everyMessage } from '../../page/model/flows/message-filter.ts'
import { RetryBackoff } from '../../../client/informer/retry-backoff.ts'
import type { Data } from '../state/state.ts'
import type { FlowView, MapView } from '../state/views.ts'
import { mapRates } from './map-rates.ts'
import { followFlow } from './flow-stream.ts'
import type { ListDeps } from './follow-list.ts'

const computeEveryMs = 200
/** Rates fall when nothing happens. */
const mapEveryMs = 1_000

export async function subscribeFlow(
  view: FlowView | MapView,
  { api, clock, random }: ListDeps,
  report: (data: Data) => void,
  signal: AbortSignal,
): Promise<void> {
  const record = new FlowRecord()
  const backoff = new RetryBackoff(random)
  let offsetMs = 0
  let isChanged = true
  const compute = (): void => {
    isChanged = false
    report(dataOf(view, record, Math.max(record.newestMs, clock.nowMs() + offsetMs)))
  }
  const computed = (async () => {
    for (let sinceMs = 0; !signal.aborted; sinceMs += computeEveryMs) {
      if (record.size > 0 && (isChanged || (view.kind === 'map' && sinceMs % mapEveryMs === 0))) compute()
      await clock.sleep(computeEveryMs, signal).catch(() => undefined)
    }
  })()
  const observer = {
    events(events: Parameters<FlowRecord['add']>[0]) {
      record.add(events)
      isChanged = true
      backoff.reset()
    },
    time(nowMs: number) {
      offsetMs = nowMs - clock.nowMs()
      compute()
    },
  }
  while (!signal.aborted) {
    try {
      await followFlow(api, observer, signal)
    } catch (error) {
      if (!signal.aborted) report({ kind: 'failed', id: view.id, reason: errorText(error) })
    }
    if (!signal.aborted) await clock.sleep(backoff.nextMs(), signal).catch(() => undefined)
    // The next stream begins with the record; after a restart of the server its events have the same ids as others.
    record.clear()
  }
  await computed
}

export function dataOf(view: FlowView | MapView, record: FlowRecord, nowMs: number): Data {
  if (view.kind === 'flow') {
    const { object, between } = view.subject
    const of = object && { resource: object.resource.plural, namespace: object.namespace, name: object.name }
    const { messages } = record.messages({ ...everyMessage, object: of, between })
    return { kind: 'messages', id: view.id, messages }
  }
  return { kind: 'map', id: view.id, ...mapRates(record.values(), nowMs) }
}
