// DefaultTolerationSeconds: a pod tolerates a node that is not ready or unreachable for five minutes, unless it has its own toleration.
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

const stayedSeconds = 300
const effect = 'NoExecute' as const
const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
  key,
  operator: 'Exists' as const,
  effect,
  tolerationSeconds: stayedSeconds,
}))

export const defaultTolerationSeconds = defineAdmissionPlugin({
  name: 'DefaultTolerationSeconds',
  handles: { operations: ['create', 'update'], kinds: [pod] },
  admit({ object }) {
    const { spec } = object as Pod
    const tolerations = spec.tolerations ?? []
    const isTolerated = (key: string) =>
      tolerations.some(
        (one) => (one.key === key || one.key === undefined) && (one.effect === effect || one.effect === undefined),
      )
    const missing = tolerations.length === 0 ? added : added.filter(({ key }) => !isTolerated(key))
    if (missing.length === 0) return object
    return { ...(object as Pod), spec: { ...spec, tolerations: [...tolerations, ...missing] } }
  },
})
