// deleteOptionsOf: the options of a deletion, in its body or in its query, validated with upstream's messages.
import { append } from '../../../base/collections/append.ts'
import { badRequest, invalidObject } from '../../../api/errors/status-error.ts'
import { deleteOptions, type DeleteOptions } from '../../../api/meta/v1/delete-options.ts'
import { isJsonObject } from '../../../schema/json/json-value.ts'
import { invalid, notSupported, type FieldError } from '../../../schema/validation/field-error.ts'
import { decode } from '../../../schema/decoding/decode.ts'
import { DecodeError } from '../../../schema/decoding/decode-error.ts'
import { dryRunErrors } from '../../request/list-options.ts'
import { booleanParameter, parseInteger } from '../../request/query-values.ts'
import type { ResourceRequest } from '../../request/request.ts'

const policies = ['Foreground', 'Background', 'Orphan']

/** The options in the body. The query is read only where there is no body. */
export function deleteOptionsOf({ query }: Pick<ResourceRequest, 'query'>, body: unknown): Partial<DeleteOptions> {
  const options = body === undefined ? optionsInQuery(query) : optionsInBody(body)
  const { propagationPolicy, orphanDependents, dryRun = [] } = options
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined)
    errors.push(
      invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
    )
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy))
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  append(errors, dryRunErrors(dryRun))
  if (errors.length > 0) throw invalidObject('meta.k8s.io', 'DeleteOptions', '', errors)
  return options
}

/** The type in the body is optional. Every group and version has DeleteOptions. */
function optionsInBody(body: unknown): Partial<DeleteOptions> {
  const { kind = '', apiVersion = '' } = isJsonObject(body) ? body : {}
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
    throw badRequest(`unexpected GroupVersion string: ${apiVersion}`)
  if (kind !== '' && kind !== 'DeleteOptions')
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion || 'meta.k8s.io/v1')} in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"`,
    )
  try {
    return decode(deleteOptions, body).value
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error
  }
}

function optionsInQuery(query: URLSearchParams): Partial<DeleteOptions> {
  const grace = query.get('gracePeriodSeconds')
  const propagationPolicy = query.get('propagationPolicy')
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: parseInteger(grace) }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    ...(query.has('orphanDependents') ? { orphanDependents: booleanParameter(query, 'orphanDependents') } : {}),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
  }
}
