// UserInfo: a user in reviews.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, listOf, map, message, string } from '../../../schema/descriptor/field.ts'

export const userInfo = message('io.k8s.api.authentication.v1.UserInfo', {
  username: string(1, { description: 'The name of the user.' }),
  uid: string(2, { description: 'An ID of the user that is unique over time.' }),
  groups: list(3, 'string', { listType: 'atomic', description: 'The groups of the user.' }),
  extra: map(4, listOf('string'), { description: 'Further information of the authenticator.' }),
})
export interface UserInfo extends Infer<typeof userInfo> {}
