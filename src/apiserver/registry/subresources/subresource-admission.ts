// Admission of bodies that are not stored (subresources, reviews) and of the options of connections.
import { setOwn } from '../../../base/collections/lookup.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { isJsonObject } from '../../../schema/json/json-value.ts'
import type { AdmissionChain } from '../../admission/framework/admission-chain.ts'
import type { AdmissionOperation } from '../../admission/framework/admission-plugin.ts'
import {
  decodeSubresourceObject,
  subresourceObjectOf,
  type SubresourceObject,
} from '../../admission/framework/subresource-object.ts'
import { booleanParameter, parseInteger } from '../../request/query-values.ts'
import { admissionAttributesOf } from '../verbs/write-admission.ts'
import type { ResourceRequest } from '../../request/request.ts'

/** The body after admission. One that is not an object is passed on, for its handler to reject. */
export async function admitBody(
  admission: AdmissionChain,
  request: ResourceRequest,
  body: unknown,
  kind: Kind,
  subresource: string,
): Promise<unknown> {
  if (!isJsonObject(body)) return body
  const posted = subresourceObjectOf(kind, subresource) ?? kind
  return admit(admission, request, kind, subresource, 'create', posted, decodeSubresourceObject(posted, body))
}

async function admit(
  admission: AdmissionChain,
  request: ResourceRequest,
  kind: Kind,
  subresource: string,
  operation: AdmissionOperation,
  posted: SubresourceObject,
  sent: ApiObject,
): Promise<ApiObject> {
  const attributes = {
    ...admissionAttributesOf({ kind, converter: { kind } }, request, operation, undefined, undefined),
    object: sent,
    subresource,
    subresourceObject: posted,
  }
  const { flow } = admission.host
  const { event } = request.context.cause
  flow.passStage(event, 'reading')
  const object = (await admission.admit(attributes)) ?? sent
  flow.passStage(event, 'mutating')
  await admission.validate({ ...attributes, object })
  flow.passStage(event, 'validating')
  return object
}

/** The request with its options after admission. */
export async function admitConnection(admission: AdmissionChain, request: ResourceRequest): Promise<ResourceRequest> {
  const { target, query } = request
  const { resource: kind, subresource } = target
  const posted = subresourceObjectOf(kind, subresource)
  if (posted === undefined) return request
  const sent = decodeSubresourceObject(posted, connectOptions(posted, query, target.path))
  const object = await admit(admission, request, kind, subresource, 'connect', posted, sent)
  return object === sent ? request : withConnectOptions(request, posted, object)
}

export const isConnection = ({ subresources = [] }: Kind, subresource: string): boolean =>
  subresources.some(({ name, options }) => name === subresource && options !== undefined)

function connectOptions({ message }: SubresourceObject, query: URLSearchParams, path: string | undefined): object {
  const options: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(message.fields)) {
    if (name === 'path') options[name] = path === '/' ? '' : path
    else if (!query.has(name)) continue
    else if (typeof type === 'object')
      setOwn(
        options,
        name,
        query.getAll(name).map((text) => (name === 'ports' ? parseInteger(text) : text)),
      )
    else setOwn(options, name, type === 'bool' ? booleanParameter(query, name) : query.get(name))
  }
  return options
}

/** The request with these options in its query. */
function withConnectOptions(
  request: ResourceRequest,
  { message }: SubresourceObject,
  options: object,
): ResourceRequest {
  const query = new URLSearchParams(request.query)
  for (const name of Object.keys(message.fields)) query.delete(name)
  const { path, kind: _, apiVersion: __, ...rest } = options as Record<string, unknown>
  for (const [name, value] of Object.entries(rest))
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  const changedPath = typeof path === 'string' ? { path: path === '' ? '/' : path } : {}
  return { ...request, query, target: { ...request.target, ...changedPath } }
}
