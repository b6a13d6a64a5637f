// Images: what is there, pulling and removing.
import { mapOf, one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'
import { podSandboxConfig } from './sandbox.ts'
import { int64Value } from './security.ts'

export const imageSpec = protoMessage('runtime.v1.ImageSpec', {
  image: one(1, 'string'),
  annotations: mapOf(2, 'string'),
  userSpecifiedImage: one(18, 'string'),
  runtimeHandler: one(19, 'string'),
  imageRef: one(20, 'string'),
})

export const imageFilter = protoMessage('runtime.v1.ImageFilter', {
  image: one(1, imageSpec),
})

export const listImagesRequest = protoMessage('runtime.v1.ListImagesRequest', {
  filter: one(1, imageFilter),
})

export const image = protoMessage('runtime.v1.Image', {
  id: one(1, 'string'),
  repoTags: repeated(2, 'string'),
  repoDigests: repeated(3, 'string'),
  size: one(4, 'uint64'),
  uid: one(5, int64Value),
  username: one(6, 'string'),
  spec: one(7, imageSpec),
  pinned: one(8, 'bool'),
})

export const listImagesResponse = protoMessage('runtime.v1.ListImagesResponse', {
  images: repeated(1, image),
})

export const imageStatusRequest = protoMessage('runtime.v1.ImageStatusRequest', {
  image: one(1, imageSpec),
  verbose: one(2, 'bool'),
})

export const imageStatusResponse = protoMessage('runtime.v1.ImageStatusResponse', {
  image: one(1, image),
  info: mapOf(2, 'string'),
})

export const authConfig = protoMessage('runtime.v1.AuthConfig', {
  username: one(1, 'string'),
  password: one(2, 'string'),
  auth: one(3, 'string'),
  serverAddress: one(4, 'string'),
  identityToken: one(5, 'string'),
  registryToken: one(6, 'string'),
})

export const pullImageRequest = protoMessage('runtime.v1.PullImageRequest', {
  image: one(1, imageSpec),
  auth: one(2, authConfig),
  sandboxConfig: one(3, podSandboxConfig),
})

export const pullImageResponse = protoMessage('runtime.v1.PullImageResponse', {
  imageRef: one(1, 'string'),
})

export const removeImageRequest = protoMessage('runtime.v1.RemoveImageRequest', {
  image: one(1, imageSpec),
})

export const removeImageResponse = protoMessage('runtime.v1.RemoveImageResponse', {})
