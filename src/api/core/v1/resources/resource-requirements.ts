// Resource requests, limits and claims.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { list, map, message, string } from '../../../../schema/descriptor/field.ts'

export const resourceClaim = message('io.k8s.api.core.v1.ResourceClaim', {
  name: string(1, { required: true, description: 'The name of an entry in resourceClaims of the pod.' }),
  request: string(2, { description: 'The request of the claim whose devices are used; all without it.' }),
})
export interface ResourceClaim extends Infer<typeof resourceClaim> {}

export const resourceRequirements = message('io.k8s.api.core.v1.ResourceRequirements', {
  limits: map(1, 'quantity', {
    description:
      'The most that the container may use, by resource: cpu in cores (500m is a half), memory in bytes (128Mi). CPU is throttled, too much memory ends the container.',
  }),
  requests: map(2, 'quantity', {
    description:
      'What is reserved on the node, by resource; the limits by default. The scheduler selects a node with so much left.',
  }),
  claims: list(3, resourceClaim, {
    listType: 'map',
    keys: ['name'],
    description: 'The ResourceClaims of the pod that the container uses.',
  }),
})
export interface ResourceRequirements extends Infer<typeof resourceRequirements> {}

export const volumeResourceRequirements = message('io.k8s.api.core.v1.VolumeResourceRequirements', {
  limits: map(1, 'quantity', { description: 'The largest size of the volume, as a quantity such as 20Gi.' }),
  requests: map(2, 'quantity', {
    description: 'The smallest size of the volume, as a quantity such as 10Gi. It can be increased.',
  }),
})
export interface VolumeResourceRequirements extends Infer<typeof volumeResourceRequirements> {}
