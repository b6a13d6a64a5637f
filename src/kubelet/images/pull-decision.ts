// The effect of a pull policy, depending on whether the image is present.
import type { Container } from '../../api/core/v1/container/container.ts'

export type PullDecision = 'pull' | 'use' | 'fail'

export function pullDecision(policy: Container['imagePullPolicy'], isPresent: boolean): PullDecision {
  switch (policy) {
    case 'Never':
      return isPresent ? 'use' : 'fail'
    case 'IfNotPresent':
      return isPresent ? 'use' : 'pull'
    default:
      return 'pull'
  }
}
