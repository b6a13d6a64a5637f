// DefaultBinder: binds through the pod's binding subresource.
import { pod as podKind } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { defineSchedulerPlugin } from '../framework/framework.ts'

export const defaultBinder = defineSchedulerPlugin({
  name: 'DefaultBinder',
  async bind({ pod }, nodeName, client, context) {
    const { name, uid } = pod.metadata
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, uid },
      target: { kind: 'Node', name: nodeName },
    }
    await client.of(podKind).createSubresource(name, namespaceOf(pod), 'binding', body, context)
    return true
  },
})
