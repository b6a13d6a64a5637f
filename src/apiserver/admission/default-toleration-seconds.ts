// DefaultTolerationSeconds: a pod stays five minutes on a node that is not ready or out of reach, unless it says more.
import { pod, type Pod } from '../../api/core/v1/pod.ts'
import { defineAdmissionPlugin } from './plugin.ts'

const stayedSeconds = 300
const keys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const
const effect = 'NoExecute'

export const defaultTolerationSeconds = defineAdmissionPlugin({
  name: 'DefaultTolerationSeconds',
  handles: { operations: ['create', 'update'], kinds: [pod] },
  admit({ object }) {
    const { spec } = object as Pod
    const tolerations = spec.tolerations ?? []
    const missing = keys.filter(
      (key) =>
        !tolerations.some(
          (one) => (one.key === key || one.key === undefined) && (one.effect === effect || one.effect === undefined),
        ),
    )
    if (missing.length === 0) return object
    const added = missing.map((key) => ({
      key,
      operator: 'Exists' as const,
      effect: effect as typeof effect,
      tolerationSeconds: stayedSeconds,
    }))
    return { ...(object as Pod), spec: { ...spec, tolerations: [...tolerations, ...added] } }
  },
})
