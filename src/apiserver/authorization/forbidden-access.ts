// The 403 of authorization, with upstream's message.
import { forbidden, StatusError } from '../../api/errors/status-error.ts'
import type { AccessAttributes } from './attributes.ts'

/** Names the user, so that the flow record shows whose requests are refused. */
export class AccessDenied extends StatusError {
  readonly user: string

  constructor({ code, reason, message, details }: StatusError, user: string) {
    super(code, reason, message, details)
    this.user = user
  }
}

export const forbiddenAccess = (attributes: AccessAttributes, why: string): AccessDenied =>
  new AccessDenied(refusal(attributes, why), attributes.user.name)

function refusal(attributes: AccessAttributes, why: string): StatusError {
  const user = `User ${JSON.stringify(attributes.user.name)}`
  const reason = why === '' ? '' : `: ${why}`
  if (attributes.kind === 'path') {
    const { verb, path } = attributes
    return new StatusError(
      403,
      'Forbidden',
      `forbidden: ${user} cannot ${verb} path ${JSON.stringify(path)}${reason}`,
      {},
    )
  }
  const { verb, group, resource, subresource, namespace, name } = attributes
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`)
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  const detail = `${user} cannot ${verb} resource ${what} in API group ${JSON.stringify(group)} ${where}${reason}`
  return forbidden({ group, plural: resource }, name, detail)
}
