// Ingress: routes external HTTP requests to Services.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { addressesText, hostsText } from './ingress-text.ts'
import { validateIngress, validateIngressAddresses } from './ingress-rules.ts'
import { ingressSpec, ingressStatus } from './ingress-spec.ts'

export const ingressMessage = message(
  'io.k8s.api.networking.v1.Ingress',
  {
    metadata: objectMetaField,
    spec: struct(2, ingressSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, ingressStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Routes external HTTP requests to Services, by host and path.',
)
export interface Ingress extends ObjectOf<typeof ingressMessage> {}
export type IngressInput = InputOf<typeof ingressMessage>

const classAnnotation = 'kubernetes.io/ingress.class'

export const ingress = defineKind<Ingress, IngressInput>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  singular: 'ingress',
  shortNames: ['ing'],
  categories: [],
  namespaced: true,
  message: ingressMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  initialStatus: () => ({ loadBalancer: {} }),
  validate: ({ metadata, spec }) => validateIngress(spec, metadata.annotations ?? {}),
  validateUpdate: () => [],
  validateStatusUpdate: ({ status }) => validateIngressAddresses(status.loadBalancer.ingress ?? []),
  warnings: ({ metadata }, old) =>
    old === undefined && metadata.annotations?.[classAnnotation] !== undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Class', ({ spec }) => spec.ingressClassName ?? '<none>'),
    column('Hosts', ({ spec }) => hostsText(spec.rules ?? [])),
    column('Address', ({ status }) => addressesText(status)),
    column('Ports', ({ spec }) => (spec.tls === undefined || spec.tls.length === 0 ? '80' : '80, 443')),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
