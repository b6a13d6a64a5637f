// DriverConnection: calls to a driver whose name and capabilities are known, each with a deadline.
import type { Context } from '../../../base/observability/context.ts'
import type { FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { CsiDriver } from '../../../machine/csi/csi-driver.ts'
import { controllerService, identityService } from '../../../machine/csi/methods.ts'
import type { GrpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import { goNameOf, GrpcError, type GrpcCode } from '../../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'

export interface DriverConnection {
  readonly name: string
  /** Capabilities of the Controller service and of the plugin, such as `CREATE_DELETE_VOLUME`. */
  readonly capabilities: ReadonlySet<string>
  call<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    context: Context,
  ): Promise<Proto<A>>
}

const callMsMax = 60_000
const probeEveryMs = 1_000

/** The sidecars of a driver as one participant of flows. */
const caller = 'csi-sidecars'

/** Waits until the driver is ready, and reads what it can do. */
export async function connectDriver(
  driver: CsiDriver,
  { clock, flow }: { readonly clock: Clock; readonly flow: FlowRecorder },
  signal: AbortSignal,
): Promise<DriverConnection> {
  const callNow = <Q extends Message, A extends Message>(method: GrpcMethod<Q, A>) =>
    callWithDeadline(driver, clock, method, {} as ProtoInput<Q>, signal)
  while (!(await isReady(() => callNow(identityService.probe), signal))) await clock.sleep(probeEveryMs, signal)
  const { name } = await callNow(identityService.getPluginInfo)
  const plugin = await callNow(identityService.getPluginCapabilities)
  const hasController = plugin.capabilities.some(({ service }) => service?.type === 'CONTROLLER_SERVICE')
  const controller = hasController ? await callNow(controllerService.controllerGetCapabilities) : { capabilities: [] }
  return {
    name,
    capabilities: new Set<string>([
      ...plugin.capabilities.map(({ service, volumeExpansion }) => service?.type ?? volumeExpansion?.type ?? 'UNKNOWN'),
      ...controller.capabilities.map(({ rpc }) => rpc?.type ?? 'UNKNOWN'),
    ]),
    async call(method, request, context) {
      const what = method.path.slice(method.path.lastIndexOf('/') + 1)
      const call = flow.record('call', caller, `csi/${name}`, what, undefined, 0, context.cause)
      try {
        const answer = await callWithDeadline(driver, clock, method, request, context.signal)
        flow.finish(call, 'ok')
        return answer
      } catch (error) {
        flow.finish(call, driverErrorText(error))
        throw error
      }
    },
  }
}

/** A driver that does not answer yet is asked again. */
async function isReady(
  probe: () => Promise<{ readonly ready: { readonly value: boolean } | undefined }>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await probe()).ready?.value ?? true
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof GrpcError) return false
    throw error
  }
}

async function callWithDeadline<Q extends Message, A extends Message>(
  driver: CsiDriver,
  clock: Clock,
  method: GrpcMethod<Q, A>,
  request: ProtoInput<Q>,
  signal: AbortSignal,
): Promise<Proto<A>> {
  const deadline = new AbortController()
  const timer = clock.after(callMsMax, () =>
    deadline.abort(new GrpcError(method.path, 'DEADLINE_EXCEEDED', 'context deadline exceeded')),
  )
  try {
    return await driver.call(method, request, AbortSignal.any([signal, deadline.signal]))
  } finally {
    timer.cancel()
  }
}

/** The text of an error as upstream's sidecars write it to events and statuses. */
export const driverErrorText = (error: unknown): string =>
  error instanceof GrpcError ? `rpc error: code = ${goNameOf(error.code)} desc = ${error.details}` : errorText(error)

const ambiguousCodes: readonly GrpcCode[] = ['CANCELLED', 'DEADLINE_EXCEEDED', 'UNAVAILABLE', 'ABORTED']

/** Whether the driver may still perform the call, or may have performed it. */
export const isAmbiguous = (error: unknown): boolean =>
  !(error instanceof GrpcError) || ambiguousCodes.includes(error.code)

export const hasCode = (error: unknown, ...codes: readonly GrpcCode[]): boolean =>
  error instanceof GrpcError && codes.includes(error.code)
