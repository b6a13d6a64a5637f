// Events about repaired addresses and ports of Services. They are written directly, because the API server has no client.
import { newUid } from '../../../base/random/ids.ts'
import type { Random } from '../../../base/random/random.ts'
import { causeOf, type FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import { rfc3339, rfc3339Micro, type Clock } from '../../../base/time/clock.ts'
import { event } from '../../../api/core/v1/event.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ResourceDeps } from '../../registry/resource/resource-deps.ts'
import { commitWrite } from '../../registry/verbs/commit.ts'

export interface RepairEventDeps {
  resource(kind: Kind): ResourceDeps
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
}

export interface RepairNote {
  readonly reason: string
  readonly message: string
  readonly component: 'ipallocator-repair-controller' | 'portallocator-repair-controller'
}

export async function recordRepair(
  { resource, clock, random, flow }: RepairEventDeps,
  about: ApiObject,
  { reason, message, component }: RepairNote,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = clock.nowMs()
  const { name, namespace, uid, resourceVersion } = about.metadata
  const { kind, apiVersion } = about
  const object = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: {
      name: `${name}.${(BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(random.below(1_000_000))).toString(16)}`,
      namespace: namespace ?? 'default',
      uid: newUid(random),
      creationTimestamp: rfc3339(nowMs),
    },
    involvedObject: { kind, apiVersion, name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion },
    reason,
    message,
    type: 'Warning',
    action: component.startsWith('ip') ? 'IPAddressAllocation' : 'PortAllocation',
    eventTime: rfc3339Micro(nowMs),
    reportingComponent: component,
    reportingInstance: component,
    source: {},
  } as unknown as ApiObject
  const subject = { resource: 'services', namespace: namespace ?? '', name }
  const cause = causeOf(flow.record('step', 'API Server', 'API Server', `repair: ${reason}`, subject, 0))
  await commitWrite(resource(event), { operation: 'put', object, expected: 0 }, cause, signal)
}
