// Eviction: deletes a pod if its disruption budgets allow. The body of a subresource, never stored.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { deleteOptions } from '../../meta/v1/delete-options.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const eviction = message(
  'io.k8s.api.policy.v1.Eviction',
  {
    metadata: struct(1, objectMeta, { description: 'Which pod is to be evicted.' }),
    deleteOptions: struct(2, deleteOptions, { pointer: true, description: 'How the pod is deleted if it may be.' }),
  },
  'Asks for a pod to leave its node, if the disruption budgets that cover it allow.',
)
export interface Eviction extends Infer<typeof eviction> {}
