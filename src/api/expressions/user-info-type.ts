// The type of users in expressions.
import { listOf, mapOf, objectType, stringType } from '../../cel/types/cel-type.ts'

export const userInfoType = objectType('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: listOf(stringType),
  extra: mapOf(stringType, listOf(stringType)),
})
