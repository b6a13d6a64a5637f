// LabelSelector: selects objects by labels.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, list, map, message, string } from '../../../schema/descriptor/field.ts'

export const labelSelectorRequirement = message('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement', {
  key: string(1, { required: true, description: 'The label.' }),
  operator: string(2, { required: true, description: 'In, NotIn, Exists or DoesNotExist.' }),
  values: list(3, 'string', { listType: 'atomic', description: 'The values for In and NotIn; empty for the others.' }),
})
export interface LabelSelectorRequirement extends Infer<typeof labelSelectorRequirement> {}

export const labelSelector = atomicMessage('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', {
  matchLabels: map(1, 'string', { description: 'Labels and the values that they must have. All of them must match.' }),
  matchExpressions: list(2, labelSelectorRequirement, {
    listType: 'atomic',
    description: 'Conditions on labels. All of them must be met.',
  }),
})
export interface LabelSelector extends Infer<typeof labelSelector> {}
