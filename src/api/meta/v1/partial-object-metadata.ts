// PartialObjectMetadata: the metadata of an object of any kind.
import { message, struct } from '../../../schema/descriptor/field.ts'
import { objectMeta } from './object-meta.ts'

export const partialObjectMetadata = message('io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata', {
  metadata: struct(1, objectMeta),
})
