// APIService: a group and version of the API, served locally or by a Service.
import { bool, bytes, int32, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { dns1035LabelErrors, dnsSubdomainErrors, pathSegmentErrors } from '../../validation/names.ts'
import { portErrors } from '../../validation/network-rules.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'

const name = <Type extends string>(type: Type) => `io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.${type}` as const

export const serviceReference = message(name('ServiceReference'), {
  namespace: string(1, { description: 'The namespace of the Service.' }),
  name: string(2, { description: 'The name of the Service.' }),
  port: int32(3, { pointer: true, default: 443, description: 'The port of the Service; 443 by default.' }),
})

export const apiServiceSpec = message(name('APIServiceSpec'), {
  service: struct(1, serviceReference, {
    pointer: true,
    description: 'The Service that serves this version; without one, this server does.',
  }),
  group: string(2, { description: 'The API group.' }),
  version: string(3, { description: 'The version within the group.' }),
  insecureSkipTLSVerify: bool(4, { description: 'Does not check the certificate of the Service. Not for production.' }),
  caBundle: bytes(5, {
    listType: 'atomic',
    description: 'A CA bundle in PEM to verify the certificate of the Service.',
  }),
  groupPriorityMinimum: int32(7, {
    required: true,
    description: 'The priority of the group: groups with a higher number come first.',
  }),
  versionPriority: int32(8, {
    required: true,
    description: 'Versions with a higher number come first within their group.',
  }),
})
export interface APIServiceSpec extends Infer<typeof apiServiceSpec> {}

export const apiServiceCondition = message(name('APIServiceCondition'), {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface APIServiceCondition extends Infer<typeof apiServiceCondition> {}

export const apiServiceStatus = message(name('APIServiceStatus'), {
  conditions: list(1, apiServiceCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Whether the version is available.',
  }),
})

export const apiServiceMessage = message(
  name('APIService'),
  {
    metadata: objectMetaField,
    spec: struct(2, apiServiceSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, apiServiceStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'One version of an API group, served by this server or a Service.',
)
export interface APIService extends ObjectOf<typeof apiServiceMessage> {}
export type APIServiceInput = InputOf<typeof apiServiceMessage>

export const apiService = defineKind<APIService, APIServiceInput>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  singular: 'apiservice',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  message: apiServiceMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: pathSegmentErrors,
  applyDefaults: (object) => object,
  initialStatus: (object) => (object.spec.service === undefined ? { conditions: [localCondition(object)] } : {}),
  validate: (object) => [...validateOwnName(object), ...validateSpec(object.spec)],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Service', ({ spec: { service } }) => (service ? `${service.namespace}/${service.name}` : 'Local')),
    column('Available', availableText),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const localCondition = ({ metadata }: APIService): APIServiceCondition => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: metadata.creationTimestamp,
  reason: 'Local',
  message: 'Local APIServices are always available',
})

function availableText({ status }: APIService): string {
  const condition = status.conditions?.find(({ type }) => type === 'Available')
  if (condition === undefined) return 'Unknown'
  return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason ?? ''})`
}

function validateOwnName({ metadata, spec: { version = '', group = '' } }: APIService): FieldError[] {
  const wanted = `${version}.${group}`
  if (!metadata.name || metadata.name === wanted || pathSegmentErrors(metadata.name).length > 0) return []
  return [invalid('metadata.name', metadata.name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)]
}

function validateSpec(spec: APIServiceSpec): FieldError[] {
  const { group = '', version = '', groupPriorityMinimum, versionPriority } = spec
  const errors: FieldError[] = []
  if (group === '' && version !== 'v1')
    errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  if (group !== '') for (const detail of dnsSubdomainErrors(group)) errors.push(invalid('spec.group', group, detail))
  for (const detail of dns1035LabelErrors(version)) errors.push(invalid('spec.version', version, detail))
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20_000)
    errors.push(invalid('spec.groupPriorityMinimum', groupPriorityMinimum, 'must be positive and less than 20000'))
  if (versionPriority <= 0 || versionPriority > 1000)
    errors.push(invalid('spec.versionPriority', versionPriority, 'must be positive and less than 1000'))
  return [...errors, ...(spec.service === undefined ? validateLocal(spec) : validateRemote(spec, spec.service))]
}

function validateLocal({ caBundle, insecureSkipTLSVerify }: APIServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  if (caBundle !== undefined)
    errors.push(invalid('spec.caBundle', `${atob(caBundle).length} bytes`, 'local APIServices may not have a caBundle'))
  if (insecureSkipTLSVerify)
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'))
  return errors
}

function validateRemote(
  { caBundle, insecureSkipTLSVerify }: APIServiceSpec,
  { namespace, name: serviceName, port }: NonNullable<APIServiceSpec['service']>,
): FieldError[] {
  const errors: FieldError[] = []
  if (insecureSkipTLSVerify && caBundle !== undefined)
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'))
  if (!namespace) errors.push(required('spec.service.namespace'))
  if (!serviceName) errors.push(required('spec.service.name'))
  const details = portErrors(port)
  if (details.length > 0) errors.push(invalid('spec.service.port', port, `port is not valid: ${details.join(', ')}`))
  return errors
}
