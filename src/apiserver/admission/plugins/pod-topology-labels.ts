// PodTopologyLabels: a bound pod gets the zone and region labels of its node, so that the downward API can expose them.
import { node } from '../../../api/core/v1/node/node.ts'
import { binding, type Binding } from '../../../api/core/v1/binding.ts'
import { pod } from '../../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export const podTopologyLabels = defineAdmissionPlugin({
  name: 'PodTopologyLabels',
  handles: { operations: ['create'], kinds: [binding, pod], subresources: ['', 'binding'] },
  admit({ object, kind, subresource }, host) {
    if (kind === pod && subresource === '') return object
    const bound = object as ApiObject & Binding
    const labels = host.get(node, '', bound.target?.name ?? '')?.metadata.labels ?? {}
    const copied = Object.entries(labels).filter(([name]) => topologyLabels.includes(name))
    if (copied.length === 0) return bound
    const { metadata } = bound
    return { ...bound, metadata: { ...metadata, labels: { ...metadata.labels, ...Object.fromEntries(copied) } } }
  },
})
