// callKubelet: asks a kubelet, on the record: what for, and not with which words, since a command may hold a secret.
import { causeOf, type FlowObject } from '../../base/observability/flow-recorder.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { KubeletCall, KubeletConnection } from './kubelet-connection.ts'
import type { ResourceDeps, ResourceRequest } from '../registry/resource-deps.ts'

export interface KubeletRequest {
  readonly call: KubeletCall
  /** What a reader of the record is told. */
  readonly what: string
}

export async function callKubelet(
  { flow, kind }: ResourceDeps,
  { target, context }: ResourceRequest,
  { call, what }: KubeletRequest,
  kubelets: KubeletConnection,
): Promise<WireResponse> {
  const subject: FlowObject = { resource: kind.plural, namespace: target.namespace, name: target.name }
  const step = flow.record('call', 'API Server', `kubelet/${call.node}`, what, subject, 0, context.cause)
  try {
    const answer = await kubelets.call({ ...call, cause: causeOf(step) }, context.signal)
    flow.finish(step, String(answer.status))
    return answer
  } catch (error) {
    flow.finish(step, error instanceof StatusError ? `${error.code} ${error.reason}`.trimEnd() : 'failed')
    throw error
  }
}
