// Responses as protobuf. Stored objects have cached bytes.
import { lookup } from '../../base/collections/lookup.ts'
import { tokenRequest } from '../../api/authentication/v1/token-request.ts'
import { scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { partialObjectMetadata } from '../../api/meta/v1/partial-object-metadata.ts'
import { listMeta, status } from '../../api/meta/v1/status.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { encodeEnvelope, encodeList, encodeProtobuf, encodeWatchFrame } from '../../schema/protobuf/protobuf-encode.ts'
import type { ListResponse } from '../request/response.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { WatchEvent } from '../watch-cache/watch-event.ts'
import type { ResponseFormat } from './media-type.ts'
import { metaVersion } from './table.ts'

/** Messages of responses that are not kinds. */
const otherMessages: Readonly<Record<string, Message>> = {
  Scale: scale,
  Status: status,
  TokenRequest: tokenRequest,
}

/** The form of a Status, and of objects unless their metadata is requested. */
const whole: ResponseFormat = { syntax: 'protobuf', shape: 'object' }

export function protobufObject(
  object: object,
  kind: Kind | undefined,
  stored?: StoredObject,
  form: ResponseFormat = whole,
): Uint8Array {
  if (kind !== undefined && form.shape === 'metadata') return metadataEnvelope(object, form)
  const { kind: name = '', apiVersion = '' } = object as { kind?: string; apiVersion?: string }
  const message = kind?.message ?? lookup(otherMessages, name)
  if (message === undefined) throw new Error(`a ${name} has no form in protobuf`)
  return encodeEnvelope(apiVersion, name, stored?.protobuf(message) ?? encodeProtobuf(message, object))
}

const metadataEnvelope = (object: object, { version }: ResponseFormat): Uint8Array =>
  encodeEnvelope(metaVersion(version), 'PartialObjectMetadata', encodeProtobuf(partialObjectMetadata, object))

export function protobufList(
  { objectKind: kind, items, revision, continueToken, remaining }: ListResponse,
  form: ResponseFormat,
): Uint8Array {
  const metadata = {
    resourceVersion: String(revision),
    continue: continueToken,
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  }
  if (form.shape === 'metadata') {
    const partial = items.map(({ object }) => encodeProtobuf(partialObjectMetadata, object))
    const raw = encodeList(listMeta, metadata, partial)
    return encodeEnvelope(metaVersion(form.version), 'PartialObjectMetadataList', raw)
  }
  const raw = encodeList(
    listMeta,
    metadata,
    items.map((stored) => stored.protobuf(kind.message)),
  )
  return encodeEnvelope(kind.apiVersion, `${kind.kind}List`, raw)
}

export const protobufEvent = (event: WatchEvent, kind: Kind, form: ResponseFormat): Uint8Array =>
  encodeWatchFrame(event.type, frameObject(event, kind, form))

function frameObject(event: WatchEvent, kind: Kind, form: ResponseFormat): Uint8Array {
  switch (event.type) {
    case 'ERROR':
      return protobufObject(event.status, undefined)
    case 'BOOKMARK': {
      const annotations = event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
      const metadata = { resourceVersion: String(event.revision), ...annotations }
      const { apiVersion, kind: name } = kind
      return protobufObject({ apiVersion, kind: name, metadata }, kind, undefined, form)
    }
    default:
      return form.shape === 'metadata'
        ? metadataEnvelope(event.stored.object, form)
        : encodeEnvelope(kind.apiVersion, kind.kind, event.stored.protobuf(kind.message))
  }
}
