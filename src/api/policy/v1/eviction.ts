// Eviction: deletes a pod if its disruption budgets allow. The body of a subresource, never stored.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { deleteOptions } from '../../meta/v1/delete-options.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const eviction = message(
  'io.k8s.api.policy.v1.Eviction',
  {
    metadata: struct(1, objectMeta, { description: 'The pod to evict.' }),
    deleteOptions: struct(2, deleteOptions, { pointer: true, description: 'The options of the deletion.' }),
  },
  'Evicts a pod from its node if its disruption budgets allow.',
)
export interface Eviction extends Infer<typeof eviction> {}
