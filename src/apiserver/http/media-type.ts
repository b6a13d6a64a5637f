// Media types: the response format that a client accepts, and the format of the body that it sent.
import { lookup } from '../../base/collections/lookup.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { PatchType } from '../request/request.ts'

export interface ResponseFormat {
  readonly syntax: 'json' | 'yaml' | 'protobuf'
  readonly shape: 'object' | 'table' | 'metadata'
  /** The version of a Table or of metadata, where it is not v1. */
  readonly version?: 'v1beta1'
  /** Metadata is requested of a list, not of one object. */
  readonly isList?: true
}

const shapes: Readonly<Record<string, ResponseFormat['shape']>> = {
  '': 'object',
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
}

/** What some responses do not have: custom objects have no protobuf beside that of their metadata, and reviews no Table. */
export type Missing = 'nothing' | 'table' | 'protobuf'

/** Formats by Accept header. Clients send the same few; the cache is bounded because anyone can send others. */
const knownForms: Readonly<Record<Missing, Map<string, ResponseFormat>>> = {
  nothing: new Map(),
  table: new Map(),
  protobuf: new Map(),
}
const knownFormsMax = 1_000

/** The first supported format of the Accept header. */
export function negotiateFormat(accept: string, missing: Missing = 'nothing'): ResponseFormat {
  const forms = knownForms[missing]
  const known = forms.get(accept)
  if (known !== undefined) return known
  const form = parseAccept(accept, missing)
  if (forms.size < knownFormsMax) forms.set(accept, form)
  return form
}

function parseAccept(accept: string, missing: Missing): ResponseFormat {
  if (accept.trim() === '') return { syntax: 'json', shape: 'object' }
  for (const entry of accept.split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const options = new Map(parameters.map((part) => part.split('=') as [string, string]))
    const shape = lookup(shapes, options.get('as') ?? '')
    const version = options.get('v') ?? 'v1'
    const syntax = lookup(syntaxes, type)
    if (syntax === undefined || shape === undefined || shape === missing) continue
    if (syntax === missing && shape === 'object') continue
    if (version !== 'v1' && (version !== 'v1beta1' || shape === 'object')) continue
    // Tables are not available as protobuf; clients that ask for them name JSON next.
    if (syntax === 'protobuf' && shape === 'table') continue
    const isList = options.get('as') === 'PartialObjectMetadataList'
    return { syntax, shape, ...(version === 'v1beta1' ? { version } : {}), ...(isList ? { isList } : {}) }
  }
  throw new StatusError(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  )
}

const syntaxes: Readonly<Record<string, ResponseFormat['syntax']>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
  'application/*': 'json',
  '*/*': 'json',
}

export const acceptsAggregatedDiscovery = (accept: string): boolean =>
  accept
    .split(',')
    .some(
      (entry) =>
        entry.includes('as=APIGroupDiscoveryList') &&
        /v=v2(;|$|\s)/.test(`${entry.trim()};`) &&
        entry.includes('application/json'),
    )

export type BodyFormat = { readonly syntax: 'json' | 'yaml' | 'protobuf'; readonly patchType?: PatchType }

const bodyForms: Readonly<Record<string, BodyFormat>> = {
  '': { syntax: 'json' },
  'application/json': { syntax: 'json' },
  'application/yaml': { syntax: 'yaml' },
  'application/vnd.kubernetes.protobuf': { syntax: 'protobuf' },
  'application/apply-patch+yaml': { syntax: 'yaml', patchType: 'apply' },
  'application/json-patch+json': { syntax: 'json', patchType: 'json' },
  'application/merge-patch+json': { syntax: 'json', patchType: 'merge' },
  'application/strategic-merge-patch+json': { syntax: 'json', patchType: 'strategic' },
}

/** In the order of upstream's message. */
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]
const objectTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** Custom objects have neither a strategic merge patch nor protobuf. */
const isForBuiltIn = ({ syntax, patchType }: BodyFormat): boolean => syntax === 'protobuf' || patchType === 'strategic'

export function bodyFormat(contentType: string, method: string, isCustom = false): BodyFormat {
  const type = contentType.split(';')[0]?.trim() ?? ''
  const form = lookup(bodyForms, type)
  const isPatch = method === 'PATCH'
  const isAccepted = form !== undefined && !(isCustom && isForBuiltIn(form))
  if (isAccepted && (form.patchType !== undefined) === isPatch) return form
  const types = isPatch ? patchTypes : objectTypes
  const accepted = types.filter((each) => !isCustom || !isPatch || each !== 'application/strategic-merge-patch+json')
  throw new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}
