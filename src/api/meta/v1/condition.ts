// Condition: one aspect of an object's state, in the form that newer kinds share.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int64, message, string, time } from '../../../schema/descriptor/field.ts'

export const condition = message('io.k8s.apimachinery.pkg.apis.meta.v1.Condition', {
  type: string(1, { required: true }),
  status: string(2, { required: true }),
  observedGeneration: int64(3),
  lastTransitionTime: time(4, { required: true }),
  reason: string(5, { required: true }),
  message: string(6, { required: true }),
})
export interface Condition extends Infer<typeof condition> {}
