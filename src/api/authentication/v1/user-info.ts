// UserInfo: a user in reviews.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, listOf, map, message, string } from '../../../schema/descriptor/field.ts'

export const userInfo = message('io.k8s.api.authentication.v1.UserInfo', {
  username: string(1),
  uid: string(2),
  groups: list(3, 'string', { listType: 'atomic' }),
  extra: map(4, listOf('string')),
})
export interface UserInfo extends Infer<typeof userInfo> {}
