// CSIStorageCapacity: the available capacity of a driver for a storage class and a set of nodes.
import { creationText } from '../../columns/age.ts'
import { message, quantity, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable, invalid } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'

export const csiStorageCapacityMessage = message(
  'io.k8s.api.storage.v1.CSIStorageCapacity',
  {
    metadata: objectMetaField,
    nodeTopology: struct(2, labelSelector, {
      pointer: true,
      description: 'The nodes that can access the storage.',
    }),
    storageClassName: string(3, { required: true, description: 'The storage class.' }),
    capacity: quantity(4, { pointer: true, description: 'The available capacity.' }),
    maximumVolumeSize: quantity(5, { pointer: true, description: 'The maximum size of a volume.' }),
  },
  'The available capacity of a storage class in a part of the cluster.',
)
export interface CSIStorageCapacity extends ObjectOf<typeof csiStorageCapacityMessage> {}
export type CSIStorageCapacityInput = InputOf<typeof csiStorageCapacityMessage>

export const csiStorageCapacity = defineKind<CSIStorageCapacity, CSIStorageCapacityInput>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  singular: 'csistoragecapacity',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: csiStorageCapacityMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ nodeTopology, storageClassName, capacity }) => [
    ...(nodeTopology === undefined ? [] : validateLabelSelector(nodeTopology, 'nodeTopology')),
    ...dnsSubdomainErrors(storageClassName).map((detail) => invalid('storageClassName', storageClassName, detail)),
    ...(capacity !== undefined && (quantityNanos(capacity) ?? 0n) < 0n
      ? [invalid('capacity', capacity, 'must be greater than or equal to 0')]
      : []),
  ],
  validateUpdate: (object, old) =>
    (['nodeTopology', 'storageClassName'] as const)
      .filter((field) => !equalValues(object[field], old[field]))
      .map((field) => immutable(field, object[field])),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Created At', ({ metadata }) => creationText(metadata), { type: 'date' }),
  ],
  fieldLabels: {},
})
