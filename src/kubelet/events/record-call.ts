// Flow events for calls to the container runtime.
import type { Context } from '../../base/observability/context.ts'
import type { Cause, FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'

/** Runs an action and records it as a call to the runtime. */
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

/** The subject when the pod object is already gone: the pod of the event that caused the call. */
export function subjectOfCause(flow: FlowRecorder, { event }: Cause): FlowObject | undefined {
  const object = flow.get(event)?.object
  return object?.resource === 'pods' ? object : undefined
}

/** The subject of flow events of a pod. */
export const subjectOf = (pod: Pod): FlowObject => ({
  resource: 'pods',
  namespace: namespaceOf(pod),
  name: pod.metadata.name,
})
