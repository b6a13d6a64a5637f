// Eviction: the wish that a pod goes, if its disruption budget allows it.
import type { Infer } from '../../../schema/infer.ts'
import { message, struct } from '../../../schema/field.ts'
import { deleteOptions } from '../../meta/v1/delete-options.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const eviction = message('io.k8s.api.policy.v1.Eviction', {
  metadata: struct(1, objectMeta),
  deleteOptions: struct(2, deleteOptions, { pointer: true }),
})
export interface Eviction extends Infer<typeof eviction> {}
