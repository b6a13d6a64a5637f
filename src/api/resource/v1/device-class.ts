// DeviceClass: a named class of devices that claims can request.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { isExtendedResource } from '../../core/v1/resources/resource-name-rules.ts'
import { validateEntries } from '../../validation/list-size-rules.ts'
import { deviceListMax, validateConfiguration, validateSelector } from './device-rules.ts'
import { deviceSelector, opaqueDeviceConfiguration } from './device-requests.ts'
import { invalid } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const deviceClassConfiguration = message('io.k8s.api.resource.v1.DeviceClassConfiguration', {
  opaque: struct(1, opaqueDeviceConfiguration, {
    pointer: true,
    embeddedAt: 1,
    description: 'Parameters of a driver.',
  }),
})
export interface DeviceClassConfiguration extends Infer<typeof deviceClassConfiguration> {}

export const deviceClassSpec = message('io.k8s.api.resource.v1.DeviceClassSpec', {
  selectors: list(1, deviceSelector, { listType: 'atomic', description: 'Which devices belong to it.' }),
  config: list(2, deviceClassConfiguration, {
    listType: 'atomic',
    description: 'Configuration for drivers of devices of the class.',
  }),
  extendedResourceName: string(4, {
    pointer: true,
    description: 'The extended resource by which containers can also request such a device.',
  }),
})
export interface DeviceClassSpec extends Infer<typeof deviceClassSpec> {}

export const deviceClassMessage = message(
  'io.k8s.api.resource.v1.DeviceClass',
  {
    metadata: objectMetaField,
    spec: struct(2, deviceClassSpec, { required: true, description: 'The wanted state of the object.' }),
  },
  'A class of devices that claims can request.',
)
export interface DeviceClass extends ObjectOf<typeof deviceClassMessage> {}
export type DeviceClassInput = InputOf<typeof deviceClassMessage>

export const deviceClass = defineKind<DeviceClass, DeviceClassInput>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  singular: 'deviceclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: deviceClassMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec: { selectors = [], config = [], extendedResourceName: name } }) => [
    ...validateEntries(selectors, 'spec.selectors', deviceListMax, validateSelector),
    ...validateEntries(config, 'spec.config', deviceListMax, validateConfiguration),
    ...(name === undefined || isExtendedResource(name)
      ? []
      : [invalid('spec.extendedResourceName', name, 'must be a valid extended resource name')]),
  ],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
