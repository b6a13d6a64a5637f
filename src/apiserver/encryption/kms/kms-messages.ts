// The messages of v2.KeyManagementService, and the form in which an encrypted value is stored. Field numbers are those
// of the published Kubernetes API.
import { grpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import { mapOf, singular, protoMessage, type Proto } from '../../../wire/protobuf/proto-message.ts'

const service = 'v2.KeyManagementService'

export const statusRequest = protoMessage('StatusRequest', {})
export const statusResponse = protoMessage('StatusResponse', {
  version: singular(1, 'string'),
  healthz: singular(2, 'string'),
  keyId: singular(3, 'string'),
})
export type KmsStatus = Proto<typeof statusResponse>

export const encryptRequest = protoMessage('EncryptRequest', {
  plaintext: singular(1, 'bytes'),
  uid: singular(2, 'string'),
})
export const encryptResponse = protoMessage('EncryptResponse', {
  ciphertext: singular(1, 'bytes'),
  keyId: singular(2, 'string'),
  annotations: mapOf(3, 'bytes'),
})

export const decryptRequest = protoMessage('DecryptRequest', {
  ciphertext: singular(1, 'bytes'),
  uid: singular(2, 'string'),
  keyId: singular(3, 'string'),
  annotations: mapOf(4, 'bytes'),
})
export const decryptResponse = protoMessage('DecryptResponse', { plaintext: singular(1, 'bytes') })

export const kmsMethods = {
  status: grpcMethod(service, 'Status', statusRequest, statusResponse),
  encrypt: grpcMethod(service, 'Encrypt', encryptRequest, encryptResponse),
  decrypt: grpcMethod(service, 'Decrypt', decryptRequest, decryptResponse),
}

/** A data encryption key as the plugin encrypted it. It is stored next to the data. */
const wrappedKeyFields = {
  keyId: singular(2, 'string'),
  encryptedDekSource: singular(3, 'bytes'),
  annotations: mapOf(4, 'bytes'),
  /** A number, so that types of later versions are distinguished from the first one. */
  encryptedDekSourceType: singular(5, 'int32'),
} as const
export const wrappedKey = protoMessage('EncryptedObject', wrappedKeyFields)
export type WrappedKey = Proto<typeof wrappedKey>

export const encryptedObject = protoMessage('EncryptedObject', {
  encryptedData: singular(1, 'bytes'),
  ...wrappedKeyFields,
})
export type EncryptedObject = Proto<typeof encryptedObject>

export const dekSourceTypes = { aesGcmKey: 0, hkdfSha256XnonceAesGcmSeed: 1 } as const
