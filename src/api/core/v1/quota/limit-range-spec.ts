// LimitRangeSpec: bounds by type.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { list, map, message, string } from '../../../../schema/descriptor/field.ts'

export const limitRangeItem = message('io.k8s.api.core.v1.LimitRangeItem', {
  type: string(1, { required: true, description: 'What is limited: Container, Pod or PersistentVolumeClaim.' }),
  max: map(2, 'quantity', { description: 'The largest amount by resource.' }),
  min: map(3, 'quantity', { description: 'The smallest amount by resource.' }),
  default: map(4, 'quantity', { description: 'The limits of containers that set none.' }),
  defaultRequest: map(5, 'quantity', { description: 'The requests of containers that set none.' }),
  maxLimitRequestRatio: map(6, 'quantity', { description: 'The largest ratio between limit and request.' }),
})
export interface LimitRangeItem extends Infer<typeof limitRangeItem> {}

export const limitRangeSpec = message('io.k8s.api.core.v1.LimitRangeSpec', {
  limits: list(1, limitRangeItem, {
    required: true,
    keepEmpty: true,
    listType: 'atomic',
    description: 'The limits by type of object.',
  }),
})
export interface LimitRangeSpec extends Infer<typeof limitRangeSpec> {}
