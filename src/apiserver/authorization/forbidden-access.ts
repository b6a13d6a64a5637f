// The 403 of authorization, with upstream's message.
import { forbidden, StatusError } from '../../api/errors/status-error.ts'
import type { AccessAttributes } from './attributes.ts'

export function forbiddenAccess(attributes: AccessAttributes, why: string): StatusError {
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
