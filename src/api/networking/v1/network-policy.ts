// NetworkPolicy: allowed connections to and from pods.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { validateNetworkPolicy, withPolicyTypes } from './network-policy-rules.ts'
import { networkPolicySpec } from './network-policy-spec.ts'

export const networkPolicyMessage = message(
  'io.k8s.api.networking.v1.NetworkPolicy',
  {
    metadata: objectMetaField,
    spec: struct(2, networkPolicySpec, { description: 'The wanted state of the object.' }),
  },
  'Defines the allowed traffic of pods.',
)
export interface NetworkPolicy extends ObjectOf<typeof networkPolicyMessage> {}
export type NetworkPolicyInput = InputOf<typeof networkPolicyMessage>

export const networkPolicy = defineKind<NetworkPolicy, NetworkPolicyInput>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  singular: 'networkpolicy',
  shortNames: ['netpol'],
  categories: [],
  namespaced: true,
  message: networkPolicyMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withPolicyTypes(object.spec) }),
  validate: ({ spec }, old) => validateNetworkPolicy(spec, old?.spec),
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Pod-Selector', ({ spec }) => selectorText(spec.podSelector) || '<none>'),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
