// LimitRangeSpec: bounds by type.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { list, map, message, string } from '../../../../schema/descriptor/field.ts'

export const limitRangeItem = message('io.k8s.api.core.v1.LimitRangeItem', {
  type: string(1, { required: true }),
  max: map(2, 'quantity'),
  min: map(3, 'quantity'),
  default: map(4, 'quantity'),
  defaultRequest: map(5, 'quantity'),
  maxLimitRequestRatio: map(6, 'quantity'),
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
