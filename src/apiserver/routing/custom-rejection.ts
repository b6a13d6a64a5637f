// customRejectionOf: why a request for custom objects is not served. Upstream handles them apart from built-in kinds: the
// verb decides, not the method, so that HEAD is a GET, and segments after a subresource are ignored.
import {
  badRequest,
  notFound,
  PageNotFound,
  verbNotSupported,
  type StatusError,
} from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { subresourcesOf, verbsOf } from '../discovery/served-resources.ts'
import type { ResourceInfo } from './request-info.ts'

/** Undefined where the request is served. */
export function customRejectionOf(info: ResourceInfo, kind: Kind): StatusError | undefined {
  const { verb, name, subresource, namespace } = info
  const isAcrossNamespaces = namespace === '' && (verb === 'list' || verb === 'watch')
  const hasScope = kind.namespaced ? namespace !== '' || isAcrossNamespaces : namespace === ''
  if (!hasScope) return new PageNotFound()
  const verbs =
    subresource === '' ? verbsOf(kind) : subresourcesOf(kind).find(({ name: each }) => each === subresource)?.verbs
  if (verbs === undefined) return notFound(kind, name)
  if (!verbs.some((each) => each === verb)) return verbNotSupported(kind, verb)
  return name === '' && (verb === 'update' || verb === 'patch') ? badRequest('name must be provided') : undefined
}
