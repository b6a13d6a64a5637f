// callKubelet: asks a kubelet, on the record: what for, and not with which words, since a command may hold a secret.
import { causeOf, type FlowObject } from '../../../base/flow.ts'
import { StatusError } from '../../../api/status-error.ts'
import type { WireAnswer } from '../../../platform/listener.ts'
import type { KubeletCall, KubeletConnection } from '../../kubelet-connection.ts'
import type { ResourceParts, ResourceRequest } from '../parts.ts'

export interface AskedKubelet {
  readonly call: KubeletCall
  /** What a reader of the record is told. */
  readonly what: string
}

export async function callKubelet(
  { flow, kind }: ResourceParts,
  { target, context }: ResourceRequest,
  { call, what }: AskedKubelet,
  kubelets: KubeletConnection,
): Promise<WireAnswer> {
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
