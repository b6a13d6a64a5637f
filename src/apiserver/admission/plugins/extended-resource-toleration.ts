// ExtendedResourceToleration (off by default): a pod that requests an extended resource tolerates the taint of that name.
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { isExtendedResource } from '../../../api/core/v1/resources/resource-name-rules.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

export const extendedResourceToleration = defineAdmissionPlugin({
  name: 'ExtendedResourceToleration',
  handles: { operations: ['create', 'update'], kinds: [pod] },
  admit({ object }) {
    const { spec } = object as Pod
    const requested = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ resources }) =>
      Object.keys(resources.requests ?? {}).filter(isExtendedResource),
    )
    const tolerations = spec.tolerations ?? []
    const tolerated = new Set(tolerations.filter(({ operator }) => operator === 'Exists').map(({ key }) => key))
    const added = [...new Set(requested)]
      .toSorted()
      .filter((key) => !tolerated.has(key))
      .map((key) => ({ key, operator: 'Exists' as const }))
    return added.length === 0
      ? object
      : { ...(object as Pod), spec: { ...spec, tolerations: [...tolerations, ...added] } }
  },
})
