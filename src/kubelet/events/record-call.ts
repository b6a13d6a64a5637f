// Calls to the runtime, on the record.
import type { Context } from '../../base/observability/context.ts'
import type { Cause, FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'

/** Records a call to the runtime around an action. */
export type RecordCall = <T>(
  what: string,
  pod: Pod | undefined,
  context: Context,
  action: () => Promise<T>,
) => Promise<T>

export function recordCall(flow: FlowRecorder, nodeName: string): RecordCall {
  const caller = `kubelet/${nodeName}`
  return async (what, pod, context, action) => {
    const subject = pod === undefined ? subjectOfCause(flow, context.cause) : subjectOf(pod)
    const call = flow.record('call', caller, 'Runtime', what, subject, 0, context.cause)
    try {
      const result = await action()
      flow.finish(call, 'ok')
      return result
    } catch (error) {
      flow.finish(call, (error as Error).message)
      throw error
    }
  }
}

/** Which pod it is about when the pod itself is gone already: the one that what led to it is about. */
export function subjectOfCause(flow: FlowRecorder, { event }: Cause): FlowObject | undefined {
  const object = flow.get(event)?.object
  return object?.resource === 'pods' ? object : undefined
}

/** A pod as records name it. */
export const subjectOf = (pod: Pod): FlowObject => ({
  resource: 'pods',
  namespace: namespaceOf(pod),
  name: pod.metadata.name,
})
