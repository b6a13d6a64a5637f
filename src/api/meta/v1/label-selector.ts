// LabelSelector: selects objects by labels.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, list, map, message, string } from '../../../schema/descriptor/field.ts'

export const labelSelectorRequirement = message('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement', {
  key: string(1, { required: true }),
  operator: string(2, { required: true }),
  values: list(3, 'string', { listType: 'atomic' }),
})
export interface LabelSelectorRequirement extends Infer<typeof labelSelectorRequirement> {}

export const labelSelector = atomicMessage('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', {
  matchLabels: map(1, 'string'),
  matchExpressions: list(2, labelSelectorRequirement, { listType: 'atomic' }),
})
export interface LabelSelector extends Infer<typeof labelSelector> {}
