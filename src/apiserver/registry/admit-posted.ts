// Admission of what is posted and not kept: bodies of subresources and reviews, options of connections.
import { setOwn } from '../../base/lookup.ts'
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { isJsonObject } from '../../schema/json-value.ts'
import type { AdmissionChain } from '../admission/chain.ts'
import type { AdmissionOperation } from '../admission/plugin.ts'
import { asPosted, postedTo, type Posted } from '../admission/posted.ts'
import { booleanOf, integerOf } from '../query.ts'
import type { ResourceRequest } from './parts.ts'
import { attributesOf } from './writes.ts'

/** The body as admission wants it; one that is no object is left to whoever takes it to refuse. */
export async function admittedBody(
  admission: AdmissionChain,
  request: ResourceRequest,
  body: unknown,
  kind: Kind,
  subresource: string,
): Promise<unknown> {
  if (!isJsonObject(body)) return body
  const posted = postedTo(kind, subresource) ?? kind
  return admitted(admission, request, kind, subresource, 'create', posted, asPosted(posted, body))
}

async function admitted(
  admission: AdmissionChain,
  request: ResourceRequest,
  kind: Kind,
  subresource: string,
  operation: AdmissionOperation,
  posted: Posted,
  sent: ApiObject,
): Promise<ApiObject> {
  const attributes = {
    ...attributesOf({ kind, face: { kind } }, request, operation, undefined, undefined),
    object: sent,
    subresource,
    posted,
  }
  const { flow } = admission.host
  const { event } = request.context.cause
  flow.pass(event, 'reading')
  const object = (await admission.admit(attributes)) ?? sent
  flow.pass(event, 'mutating')
  await admission.validate({ ...attributes, object })
  flow.pass(event, 'validating')
  return object
}

/** A connection with the options that admission wants it to have. */
export async function admittedConnection(
  admission: AdmissionChain,
  request: ResourceRequest,
): Promise<ResourceRequest> {
  const { target, query } = request
  const { resource: kind, subresource } = target
  const posted = postedTo(kind, subresource)
  if (posted === undefined) return request
  const sent = asPosted(posted, optionsIn(posted, query, target.path))
  const object = await admitted(admission, request, kind, subresource, 'connect', posted, sent)
  return object === sent ? request : connecting(request, posted, object)
}

export const isConnection = ({ subresources = [] }: Kind, subresource: string): boolean =>
  subresources.some(({ name, options }) => name === subresource && options !== undefined)

function optionsIn({ message }: Posted, query: URLSearchParams, path: string | undefined): object {
  const options: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(message.fields)) {
    if (name === 'path') options[name] = path === '/' ? '' : path
    else if (!query.has(name)) continue
    else if (typeof type === 'object')
      setOwn(
        options,
        name,
        query.getAll(name).map((text) => (name === 'ports' ? integerOf(text) : text)),
      )
    else setOwn(options, name, type === 'bool' ? booleanOf(query, name) : query.get(name))
  }
  return options
}

/** The request as if its client had asked for these options. */
function connecting(request: ResourceRequest, { message }: Posted, options: object): ResourceRequest {
  const query = new URLSearchParams(request.query)
  for (const name of Object.keys(message.fields)) query.delete(name)
  const { path, kind: _, apiVersion: __, ...rest } = options as Record<string, unknown>
  for (const [name, value] of Object.entries(rest))
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  const onward = typeof path === 'string' ? { path: path === '' ? '/' : path } : {}
  return { ...request, query, target: { ...request.target, ...onward } }
}
