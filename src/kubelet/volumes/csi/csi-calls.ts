// Calls to the registered drivers, with upstream's time limit and the errors that upstream shows.
import type { Context } from '../../../base/observability/context.ts'
import type { FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { nodeService } from '../../../machine/csi/methods.ts'
import type { GrpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import { goNameOf, GrpcError, type GrpcCode } from '../../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import type { CsiRegistry } from '../../plugins/csi-registry.ts'
import { TimeLimitExceeded, withTimeLimit } from '../../plugins/time-limit.ts'
import { VolumeError } from '../contract/volume-type.ts'
import type { NodeCapabilities } from './capability.ts'

export interface CsiCallsDeps {
  readonly registry: CsiRegistry
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly nodeName: string
}

/** Upstream's limit of a call. */
const callMsMax = 120_000

/** A driver has rejected a call, or has not answered it. */
export class CsiCallError extends VolumeError {
  override name = 'CsiCallError'
  readonly code: GrpcCode

  constructor(code: GrpcCode, details: string, cause: unknown) {
    super(`rpc error: code = ${goNameOf(code)} desc = ${details}`, { cause })
    this.code = code
  }

  /** Whether the call has certainly taken no effect. */
  get isFinal(): boolean {
    return !uncertainCodes.has(this.code)
  }
}

/** Codes after which a call may still be executed, or may have been executed. */
const uncertainCodes: ReadonlySet<GrpcCode> = new Set([
  'ABORTED',
  'CANCELLED',
  'DEADLINE_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
])

export class CsiCalls {
  readonly #deps: CsiCallsDeps

  constructor(deps: CsiCallsDeps) {
    this.#deps = deps
  }

  /** Performs a call and records it in the flow. `client`: how upstream's message names the failed search for the driver. */
  async call<Q extends Message, A extends Message>(
    driverName: string,
    client: string,
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    context: Context,
  ): Promise<Proto<A>> {
    const { flow, nodeName } = this.#deps
    const what = method.path.slice(method.path.lastIndexOf('/') + 1)
    const call = flow.record('call', `kubelet/${nodeName}`, `csi/${driverName}`, what, undefined, 0, context.cause)
    try {
      const answer = await this.read(driverName, client, method, request, context.signal)
      flow.finish(call, 'ok')
      return answer
    } catch (error) {
      flow.finish(call, errorText(error))
      throw error
    }
  }

  /** Like `call`, for calls that change nothing. They are not recorded. */
  async read<Q extends Message, A extends Message>(
    driverName: string,
    client: string,
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const { registry, clock } = this.#deps
    const registered = registry.find(driverName)
    if (registered === undefined)
      throw new VolumeError(
        `kubernetes.io/csi: ${client}: driver name ${driverName} not found in the list of registered CSI drivers`,
      )
    try {
      return await withTimeLimit(clock, callMsMax, signal, (stop) => registered.driver.call(method, request, stop))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof TimeLimitExceeded) throw new CsiCallError('DEADLINE_EXCEEDED', error.message, error)
      if (error instanceof GrpcError) throw new CsiCallError(error.code, error.details, error)
      throw error
    }
  }

  async capabilities(driverName: string, client: string, signal: AbortSignal): Promise<NodeCapabilities> {
    const { capabilities } = await this.read(driverName, client, nodeService.nodeGetCapabilities, {}, signal)
    return new Set(capabilities.map(({ rpc }) => rpc?.type ?? 'UNKNOWN'))
  }
}
