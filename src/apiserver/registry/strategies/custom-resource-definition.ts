// CustomResourceDefinition: its status remembers every version in which objects were ever stored.
import {
  customResourceDefinition,
  withStorageVersion,
  type CustomResourceDefinition,
} from '../../../api/apiextensions/v1/custom-resource-definition.ts'
import type { Strategy } from '../strategy.ts'

export const customResourceDefinitionStrategy: Strategy<CustomResourceDefinition> = {
  kind: customResourceDefinition,
  prepareUpdate: (object) => ({
    ...object,
    status: { ...object.status, storedVersions: withStorageVersion(object.status.storedVersions ?? [], object.spec) },
  }),
}
