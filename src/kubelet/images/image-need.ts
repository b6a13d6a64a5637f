// What a container's pull policy asks for, given whether the image is there.
import type { Container } from '../../api/core/v1/container.ts'

export type ImageNeed = 'pull' | 'use' | 'refuse'

export function imageNeed(policy: Container['imagePullPolicy'], isPresent: boolean): ImageNeed {
  switch (policy) {
    case 'Never':
      return isPresent ? 'use' : 'refuse'
    case 'IfNotPresent':
      return isPresent ? 'use' : 'pull'
    default:
      return 'pull'
  }
}
