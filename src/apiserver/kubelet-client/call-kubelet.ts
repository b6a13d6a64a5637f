// callKubelet: a call to a kubelet with its flow event. The event has no arguments, because a command may hold a secret.
import { causeOf, type FlowObject, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { KubeletCall, KubeletConnection } from './kubelet-connection.ts'
import type { ResourceRequest } from '../request/request.ts'

export interface KubeletRequest {
  readonly call: KubeletCall
  /** The name of the call in the flow record. */
  readonly what: string
}

export async function callKubelet(
  { flow, kind }: { readonly flow: FlowRecorder; readonly kind: Kind },
  { target, context }: ResourceRequest,
  { call, what }: KubeletRequest,
  kubelets: KubeletConnection,
): Promise<WireResponse> {
  const subject: FlowObject = { resource: kind.plural, namespace: target.namespace, name: target.name }
  const step = flow.record('call', 'API Server', `kubelet/${call.node}`, what, subject, 0, context.cause)
  try {
    const response = await kubelets.call({ ...call, cause: causeOf(step) }, context.signal)
    flow.finish(step, String(response.status))
    return response
  } catch (error) {
    flow.finish(step, error instanceof StatusError ? `${error.code} ${error.reason}`.trimEnd() : 'failed')
    throw error
  }
}
