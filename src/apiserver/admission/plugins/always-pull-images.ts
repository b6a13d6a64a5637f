// AlwaysPullImages (off by default): every container start pulls its image, so a private image that is already on the node
// cannot be used without its pull secret.
import type { Container } from '../../../api/core/v1/container/container.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'

export const alwaysPullImages = defineAdmissionPlugin({
  name: 'AlwaysPullImages',
  handles: { operations: ['create', 'update'], kinds: [pod], subresources: ['', 'ephemeralcontainers'] },
  admit({ object }) {
    const { spec } = object as Pod
    const pulled = <C extends Pick<Container, 'imagePullPolicy'>>(container: C): C => ({
      ...container,
      imagePullPolicy: 'Always',
    })
    return {
      ...(object as Pod),
      spec: {
        ...spec,
        containers: spec.containers.map(pulled),
        ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(pulled) }),
        ...(spec.ephemeralContainers === undefined
          ? {}
          : { ephemeralContainers: spec.ephemeralContainers.map(pulled) }),
      },
    }
  },
})
