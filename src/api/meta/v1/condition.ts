// Condition: one aspect of an object's state, in the form that newer kinds share.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int64, message, string, time } from '../../../schema/descriptor/field.ts'

export const condition = message('io.k8s.apimachinery.pkg.apis.meta.v1.Condition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  observedGeneration: int64(3, { description: 'The generation of the object that the condition is about.' }),
  lastTransitionTime: time(4, { required: true, description: 'When the status changed last.' }),
  reason: string(5, { required: true, description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(6, { required: true, description: 'A sentence for people about the last transition.' }),
})
export interface Condition extends Infer<typeof condition> {}
