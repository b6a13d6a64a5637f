// Media types: the response format that a client accepts, and the format of the body that it sent.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { StatusError, type StatusDetails } from '../../api/errors/status-error.ts'
import type { PatchType } from '../request/request.ts'

export interface ResponseFormat {
  readonly syntax: 'json' | 'yaml' | 'protobuf'
  readonly shape: 'object' | 'table' | 'metadata'
  /** The version of a Table or of metadata, where it is not v1. */
  readonly version?: 'v1beta1'
  /** Metadata is requested of a list, not of one object. */
  readonly isList?: true
}

export const plainJson: ResponseFormat = { syntax: 'json', shape: 'object' }

const shapes: Readonly<Record<string, ResponseFormat['shape']>> = {
  '': 'object',
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
}

const objectTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const streamTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']

/** The formats of a kind of response. */
interface Offer {
  readonly has: (format: ResponseFormat) => boolean
  /** Events have no YAML. */
  readonly isStream?: true
  /** Not an object. */
  readonly isText?: true
  /** Upstream selects the route of a built-in resource by the types in the Accept header, without their parameters. */
  readonly routeTypes?: readonly string[]
}

/** Tables are not available as protobuf; clients that ask for them name JSON next. */
const hasBuiltIn: Offer['has'] = ({ syntax, shape }) => syntax !== 'protobuf' || shape !== 'table'
/** Custom objects have no protobuf beside that of their metadata. */
const hasCustom: Offer['has'] = ({ syntax, shape }) => syntax !== 'protobuf' || shape === 'metadata'
const isPlain: Offer['has'] = ({ shape }) => shape === 'object'

const offers = {
  customObject: { has: hasCustom },
  customWatch: { has: hasCustom, isStream: true },
  document: { has: isPlain, routeTypes: objectTypes },
  list: { has: hasBuiltIn, routeTypes: [...objectTypes, ...streamTypes] },
  log: { has: isPlain, isText: true, routeTypes: ['text/plain', ...objectTypes] },
  object: { has: hasBuiltIn, routeTypes: objectTypes },
  review: { has: ({ shape }) => shape !== 'table', routeTypes: objectTypes },
  /** Of an error; and a document that has no route of its own. */
  status: { has: isPlain },
  version: { has: isPlain, routeTypes: ['application/json'] },
  watch: { has: hasBuiltIn, isStream: true, routeTypes: [...objectTypes, ...streamTypes] },
} as const satisfies Record<string, Offer>

export type OfferName = keyof typeof offers

/** Formats by Accept header. Clients send the same few; the cache is bounded because anyone can send others. */
const knownFormats = new Map<OfferName, Map<string, ResponseFormat>>()
const knownFormatsMax = 1_000

/** The first supported format of the Accept header. */
export function negotiateFormat(accept: string, offer: OfferName = 'object'): ResponseFormat {
  const formats = getOrInsert(knownFormats, offer, () => new Map<string, ResponseFormat>())
  const known = formats.get(accept)
  if (known !== undefined) return known
  const format = acceptedFormat(accept, offers[offer])
  if (formats.size < knownFormatsMax) formats.set(accept, format)
  return format
}

function acceptedFormat(accept: string, { has, isStream, isText, routeTypes }: Offer): ResponseFormat {
  if (accept.trim() === '') return plainJson
  const entries = accept.split(',').map((entry) => entry.split(';').map((part) => part.trim()))
  if (routeTypes !== undefined && !entries.some(([type = '']) => type === '*/*' || routeTypes.includes(type)))
    throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${routeTypes.join(', ')}`, {})
  if (isText) return plainJson
  const formats = entries.flatMap(formatsOf).filter(has)
  const format = isStream ? formats.find(({ syntax }) => syntax !== 'yaml') : formats[0]
  if (format !== undefined) return format
  const types = formats.length > 0 ? streamTypes : objectTypes
  throw notAcceptable(`only the following media types are accepted: ${types.join(', ')}`)
}

const notAcceptable = (message: string, details?: StatusDetails): StatusError =>
  new StatusError(406, 'NotAcceptable', message, details)

/** Of an entry of the Accept header; none if it is not known. */
function formatsOf([type = '', ...parameters]: readonly string[]): ResponseFormat[] {
  const options = new Map(parameters.map((part) => part.split('=') as [string, string]))
  const shape = lookup(shapes, options.get('as') ?? '')
  const version = options.get('v') ?? 'v1'
  const syntax = lookup(syntaxes, type)
  if (syntax === undefined || shape === undefined) return []
  if (version !== 'v1' && (version !== 'v1beta1' || shape === 'object')) return []
  if (shape !== 'object' && options.get('g') !== 'meta.k8s.io') return []
  const isList = options.get('as') === 'PartialObjectMetadataList'
  return [{ syntax, shape, ...(version === 'v1beta1' ? { version } : {}), ...(isList ? { isList } : {}) }]
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
