// Resource requests, limits and claims.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { list, map, message, string } from '../../../../schema/descriptor/field.ts'

export const resourceClaim = message('io.k8s.api.core.v1.ResourceClaim', {
  name: string(1, { required: true }),
  request: string(2),
})
export interface ResourceClaim extends Infer<typeof resourceClaim> {}

export const resourceRequirements = message('io.k8s.api.core.v1.ResourceRequirements', {
  limits: map(1, 'quantity'),
  requests: map(2, 'quantity'),
  claims: list(3, resourceClaim, { listType: 'map', keys: ['name'] }),
})
export interface ResourceRequirements extends Infer<typeof resourceRequirements> {}

export const volumeResourceRequirements = message('io.k8s.api.core.v1.VolumeResourceRequirements', {
  limits: map(1, 'quantity'),
  requests: map(2, 'quantity'),
})
export interface VolumeResourceRequirements extends Infer<typeof volumeResourceRequirements> {}
