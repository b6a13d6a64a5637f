// What a container's pull policy asks for, given whether the image is there.
import type { Container } from '../../api/core/v1/container/container.ts'

export type PullDecision = 'pull' | 'use' | 'refuse'

export function pullDecision(policy: Container['imagePullPolicy'], isPresent: boolean): PullDecision {
  switch (policy) {
    case 'Never':
      return isPresent ? 'use' : 'refuse'
    case 'IfNotPresent':
      return isPresent ? 'use' : 'pull'
    default:
      return 'pull'
  }
}
