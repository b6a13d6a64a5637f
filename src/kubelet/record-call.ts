// Calls to the runtime, on the record.
import type { Context } from '../base/context.ts'
import type { FlowRecorder } from '../base/flow.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { namespaceOf } from '../api/object.ts'

/** Records a call to the runtime around an action. */
export type RecordCall = <T>(
  what: string,
  pod: Pod | undefined,
  context: Context,
  action: () => Promise<T>,
) => Promise<T>

export const recordCall =
  (flow: FlowRecorder, nodeName: string): RecordCall =>
  async (what, pod, context, action) => {
    const subject =
      pod === undefined ? undefined : { resource: 'pods', namespace: namespaceOf(pod), name: pod.metadata.name }
    const call = flow.record('call', `kubelet/${nodeName}`, 'Runtime', what, subject, 0, context.cause)
    try {
      const result = await action()
      flow.finish(call, 'ok')
      return result
    } catch (error) {
      flow.finish(call, (error as Error).message)
      throw error
    }
  }
