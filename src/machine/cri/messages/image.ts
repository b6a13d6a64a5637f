// CRI messages of the image service.
import { mapOf, singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'
import { podSandboxConfig } from './sandbox.ts'
import { int64Value } from './security.ts'

export const imageSpec = protoMessage('runtime.v1.ImageSpec', {
  image: singular(1, 'string'),
  annotations: mapOf(2, 'string'),
  userSpecifiedImage: singular(18, 'string'),
  runtimeHandler: singular(19, 'string'),
  imageRef: singular(20, 'string'),
})

export const imageFilter = protoMessage('runtime.v1.ImageFilter', {
  image: singular(1, imageSpec),
})

export const listImagesRequest = protoMessage('runtime.v1.ListImagesRequest', {
  filter: singular(1, imageFilter),
})

export const image = protoMessage('runtime.v1.Image', {
  id: singular(1, 'string'),
  repoTags: repeated(2, 'string'),
  repoDigests: repeated(3, 'string'),
  size: singular(4, 'uint64'),
  uid: singular(5, int64Value),
  username: singular(6, 'string'),
  spec: singular(7, imageSpec),
  pinned: singular(8, 'bool'),
})

export const listImagesResponse = protoMessage('runtime.v1.ListImagesResponse', {
  images: repeated(1, image),
})

export const imageStatusRequest = protoMessage('runtime.v1.ImageStatusRequest', {
  image: singular(1, imageSpec),
  verbose: singular(2, 'bool'),
})

export const imageStatusResponse = protoMessage('runtime.v1.ImageStatusResponse', {
  image: singular(1, image),
  info: mapOf(2, 'string'),
})

export const authConfig = protoMessage('runtime.v1.AuthConfig', {
  username: singular(1, 'string'),
  password: singular(2, 'string'),
  auth: singular(3, 'string'),
  serverAddress: singular(4, 'string'),
  identityToken: singular(5, 'string'),
  registryToken: singular(6, 'string'),
})

export const pullImageRequest = protoMessage('runtime.v1.PullImageRequest', {
  image: singular(1, imageSpec),
  auth: singular(2, authConfig),
  sandboxConfig: singular(3, podSandboxConfig),
})

export const pullImageResponse = protoMessage('runtime.v1.PullImageResponse', {
  imageRef: singular(1, 'string'),
})

export const removeImageRequest = protoMessage('runtime.v1.RemoveImageRequest', {
  image: singular(1, imageSpec),
})

export const removeImageResponse = protoMessage('runtime.v1.RemoveImageResponse', {})
