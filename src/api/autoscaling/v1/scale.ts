// Scale
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, message, string, struct } from '../../../schema/descriptor/field.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const scaleSpec = message('io.k8s.api.autoscaling.v1.ScaleSpec', {
  replicas: int32(1),
})
export interface ScaleSpec extends Infer<typeof scaleSpec> {}

export const scaleStatus = message('io.k8s.api.autoscaling.v1.ScaleStatus', {
  replicas: int32(1, { required: true }),
  selector: string(2),
})
export interface ScaleStatus extends Infer<typeof scaleStatus> {}

export const scale = message('io.k8s.api.autoscaling.v1.Scale', {
  metadata: struct(1, objectMeta),
  spec: struct(2, scaleSpec),
  status: struct(3, scaleStatus),
})
export interface Scale extends Infer<typeof scale> {}
