// Service: a stable address for a set of pods.
import { proxySubresource } from '../../../kind/subresource.ts'
import { serviceProxyOptions } from '../connect-options.ts'
import { forbidden } from '../../../../schema/validation/field-error.ts'
import { message, struct } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsLabelErrors } from '../../../validation/names.ts'
import { labelsText } from '../../../columns/labels-text.ts'
import { validateServiceSpec, withServiceDefaults } from './service-rules.ts'
import { sourceRangesOf, validateLoadBalancerStatus, withAddressModes } from './service-traffic-rules.ts'
import { validateServiceUpdate } from './service-update-rules.ts'
import { serviceSpec, serviceStatus, type ServicePort } from './service-spec.ts'

export const serviceMessage = message(
  'io.k8s.api.core.v1.Service',
  {
    metadata: objectMetaField,
    spec: struct(2, serviceSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, serviceStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'One stable address for a changing set of pods.',
)
export interface Service extends ObjectOf<typeof serviceMessage> {}
export type ServiceInput = InputOf<typeof serviceMessage>

export const service = defineKind<Service, ServiceInput>({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  message: serviceMessage,
  subresources: [proxySubresource(serviceProxyOptions)],
  hasStatus: true,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: dnsLabelErrors,
  applyDefaults: (object) => ({
    ...object,
    spec: withServiceDefaults(object.spec),
    status: { ...object.status, loadBalancer: withAddressModes(object.status.loadBalancer) },
  }),
  hasStatusDefaults: true,
  initialStatus: () => ({ loadBalancer: {} }),
  validate: ({ metadata, spec, status }, old) => [
    ...validateServiceSpec(spec, metadata.annotations ?? {}, sourceRangesOf(old?.spec, old?.metadata.annotations)),
    ...validateLoadBalancerStatus(status.loadBalancer, 'status.loadBalancer'),
  ],
  validateUpdate: (object, old) => validateServiceUpdate(object.spec, old.spec),
  validateStatusUpdate: ({ spec, status }) =>
    spec.type !== 'LoadBalancer' && (status.loadBalancer.ingress ?? []).length > 0
      ? [forbidden('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")]
      : [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Type', ({ spec }) => spec.type),
    column('Cluster-IP', ({ spec }) => spec.clusterIPs?.[0] ?? '<none>'),
    column('External-IP', externalAddressText),
    column('Port(s)', ({ spec }) => portsText(spec.ports)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Selector', ({ spec }) => labelsText(spec.selector), { priority: 1 }),
  ],
  fieldLabels: { 'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '', 'spec.type': ({ spec }) => spec.type },
})

/** `80/TCP,443:30443/TCP`: with the node port if there is one. */
const portsText = (ports: readonly ServicePort[] = []): string =>
  ports
    .map(({ port, nodePort, protocol }) => `${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol}`)
    .join(',') || '<none>'

function externalAddressText({ spec, status }: Service): string {
  const { externalIPs = [], externalName = '' } = spec
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || '<none>'
    case 'LoadBalancer': {
      const given = (status.loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '')
      return [...new Set(given.filter((text) => text !== '').toSorted()), ...externalIPs].join(',') || '<pending>'
    }
    case 'ExternalName':
      return externalName
    default:
      spec.type satisfies never
      return '<unknown>'
  }
}
