// FlowRecords: where readers find the flow record: that of this API server, or those of all of them as one.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'

export interface FlowReading {
  readonly flow: FlowRecorder
  /** The servers whose records are missing, with the reason. */
  readonly missing: readonly string[]
}

export interface FlowRecords {
  /** The record stays complete while it is followed, and for a while after it was read. */
  read(signal: AbortSignal): MaybePromise<FlowReading>
}

export const ownRecord = (flow: FlowRecorder): FlowRecords => ({ read: () => ({ flow, missing: [] }) })
