// Binding
import type { Infer } from '../../../schema/infer.ts'
import { message, struct } from '../../../schema/field.ts'
import { objectReference } from './references.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const binding = message('io.k8s.api.core.v1.Binding', {
  metadata: struct(1, objectMeta),
  target: struct(2, objectReference, { required: true }),
})
export interface Binding extends Infer<typeof binding> {}
