// handlePath: requests for paths that are not resources: health, metrics, the flow recorder, the web UI and discovery.
import type { MaybePromise } from '../base/async/maybe-promise.ts'
import type { FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Clock } from '../base/time/clock.ts'
import { flowEventsPath } from '../api/coxswain/v1/flow-protocol.ts'
import { handleNonResourcePath, type NonResourcePathDeps } from './discovery/non-resource-paths.ts'
import { handleFlowEvents } from './flow-endpoints/flow-events.ts'
import type { FlowRecords } from './flow-endpoints/flow-records.ts'
import { SchedulingDecisions } from './flow-endpoints/scheduling-decisions.ts'
import { healthChecks, type HealthState } from './health/health-checks.ts'
import { healthResponse, isHealthPath } from './health/health.ts'
import type { ApiRequest, Target } from './request/request.ts'
import type { ApiResponse } from './request/response.ts'
import { UiEndpoints } from './ui/ui-endpoints.ts'

type PathTarget = Extract<Target, { readonly kind: 'path' }>

export interface PathDeps {
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly records: FlowRecords
  readonly health: HealthState
  readonly documents: NonResourcePathDeps
  readonly decisions: SchedulingDecisions
  readonly ui: UiEndpoints
  /** Updates the metrics that are computed when they are read. */
  readonly collectMetrics: () => void
}

export function handlePath(
  request: ApiRequest,
  { path, verb, accept }: PathTarget,
  { clock, flow, records, health, documents, decisions, ui, collectMetrics }: PathDeps,
): MaybePromise<ApiResponse> {
  const { target, query, context } = request
  const [first, ...rest] = path.split('/').filter((part) => part !== '')
  if (isHealthPath(first)) {
    const one = rest.length === 0 ? undefined : rest.join('/')
    return healthResponse(first, one, healthChecks(first, health), query, documents.sliMetrics, context.signal)
  }
  if (first === 'metrics') collectMetrics()
  if (SchedulingDecisions.ownsPath(path)) return decisions.handle(request)
  if (UiEndpoints.ownsPath(target)) return ui.handle(request)
  if (path === flowEventsPath) return handleFlowEvents(request, { flow, records, clock })
  return handleNonResourcePath(path, verb, accept, query, documents)
}
