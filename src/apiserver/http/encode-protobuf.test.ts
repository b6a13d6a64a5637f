// Metadata as protobuf: of one object, of a list and of watch events.
import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { listMeta } from '../../api/meta/v1/status.ts'
import { partialObjectMetadata } from '../../api/meta/v1/partial-object-metadata.ts'
import { list, message, struct, type Message } from '../../schema/descriptor/field.ts'
import { decodeEnvelope, decodeProtobuf } from '../../schema/protobuf/protobuf-decode.ts'
import type { ListResponse } from '../request/response.ts'
import { protobufEvent, protobufList, protobufObject } from './encode-protobuf.ts'
import type { ResponseFormat } from './media-type.ts'

const form: ResponseFormat = { syntax: 'protobuf', shape: 'metadata' }
const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', uid: 'u' }, data: { x: '1' } }

const partialList = message('PartialObjectMetadataList', {
  metadata: struct(1, listMeta),
  items: list(2, partialObjectMetadata),
})

interface Partial {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly items?: readonly { readonly metadata: { readonly name: string } }[]
}

function read(bytes: Uint8Array, type: Message = partialObjectMetadata) {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes)
  return { apiVersion, kind, object: decodeProtobuf(type, raw) as unknown as Partial }
}

suite('metadata as protobuf', () => {
  test('is the PartialObjectMetadata of an object', () => {
    const { apiVersion, kind, object: partial } = read(protobufObject(object, configMap, undefined, form))
    deepEqual([apiVersion, kind, partial.metadata['name']], ['meta.k8s.io/v1', 'PartialObjectMetadata', 'a'])
  })

  test('has the version that is requested', () => {
    deepEqual(
      read(protobufObject(object, configMap, undefined, { ...form, version: 'v1beta1' })).apiVersion,
      'meta.k8s.io/v1beta1',
    )
  })

  test('is the PartialObjectMetadataList of a list', () => {
    const response = { objectKind: configMap, items: [{ object }], revision: 7, continueToken: '' }
    const bytes = protobufList(response as unknown as ListResponse, form)
    const { kind, object: partial } = read(bytes, partialList)
    deepEqual(
      [kind, partial.metadata['resourceVersion'], partial.items?.map(({ metadata }) => metadata.name)],
      ['PartialObjectMetadataList', '7', ['a']],
    )
  })

  test('is a bookmark that ends the initial events', () => {
    const frame = protobufEvent({ type: 'BOOKMARK', revision: 7, initialEventsEnd: true }, configMap, form)
    const { kind, object: partial } = read(frame.subarray(Buffer.from(frame).indexOf('k8s\0')))
    deepEqual(
      [kind, partial.metadata['resourceVersion'], partial.metadata['annotations']],
      ['PartialObjectMetadata', '7', { 'k8s.io/initial-events-end': 'true' }],
    )
  })
})
