// DefaultTolerationSeconds: a pod tolerates a node that is not ready or unreachable for a while, unless it has its own toleration.
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { defineAdmissionPlugin, type AdmissionPlugin } from '../framework/admission-plugin.ts'

/** For how long a pod stays on a node. */
export interface TolerationSeconds {
  readonly notReady: number
  readonly unreachable: number
}

export const tolerationSecondsDefault: TolerationSeconds = { notReady: 300, unreachable: 300 }

const effect = 'NoExecute' as const

export function defaultTolerationSeconds({ notReady, unreachable }: TolerationSeconds): AdmissionPlugin {
  const added = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists' as const, effect, tolerationSeconds: notReady },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists' as const, effect, tolerationSeconds: unreachable },
  ]
  return defineAdmissionPlugin({
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
}
