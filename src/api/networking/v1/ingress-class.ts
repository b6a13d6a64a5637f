// IngressClass: the controller that implements an Ingress.
import { append } from '../../../base/collections/append.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import {
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  tooLong,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { validateDomainPrefixedPath } from '../../validation/domain-prefixed-path.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../../validation/names.ts'
import { validateReference } from './ingress-rules.ts'

export const ingressClassParametersReference = message('io.k8s.api.networking.v1.IngressClassParametersReference', {
  apiGroup: string(1, { pointer: true, description: 'The API group of the object; the core group without it.' }),
  kind: string(2, { required: true, description: 'The kind of the object.' }),
  name: string(3, { required: true, description: 'The name of the object.' }),
  scope: string(4, {
    pointer: true,
    keepEmpty: true,
    default: 'Cluster',
    description: 'Cluster (the default) or Namespace.',
  }),
  namespace: string(5, { pointer: true, description: 'The namespace of the object, for the scope Namespace.' }),
})
export interface IngressClassParametersReference extends Infer<typeof ingressClassParametersReference> {}

export const ingressClassSpec = message('io.k8s.api.networking.v1.IngressClassSpec', {
  controller: string(1, { description: 'The controller, as a path with a domain.' }),
  parameters: struct(2, ingressClassParametersReference, {
    pointer: true,
    description: 'An object that configures the controller.',
  }),
})
export interface IngressClassSpec extends Infer<typeof ingressClassSpec> {}

export const ingressClassMessage = message(
  'io.k8s.api.networking.v1.IngressClass',
  {
    metadata: objectMetaField,
    spec: struct(2, ingressClassSpec, { description: 'The wanted state of the object.' }),
  },
  'Names the controller that serves Ingresses of this class.',
)
export interface IngressClass extends ObjectOf<typeof ingressClassMessage> {}
export type IngressClassInput = InputOf<typeof ingressClassMessage>

export const ingressClass = defineKind<IngressClass, IngressClassInput>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  singular: 'ingressclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: ingressClassMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => [...validateController(spec), ...validateParameters(spec.parameters)],
  validateUpdate: ({ spec }, old) =>
    spec.controller === old.spec.controller ? [] : [immutable('spec.controller', spec.controller ?? '')],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Controller', ({ spec }) => spec.controller ?? ''),
    column('Parameters', ({ spec }) => parametersText(spec)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const controllerBytesMax = 250

function validateController({ controller = '' }: IngressClassSpec): FieldError[] {
  const errors = validateDomainPrefixedPath(controller, 'spec.controller')
  return controller.length > controllerBytesMax ? [tooLong('spec.controller', controllerBytesMax), ...errors] : errors
}

function validateParameters(parameters: IngressClassSpec['parameters']): FieldError[] {
  if (parameters === undefined) return []
  const { scope, namespace } = parameters
  const at = 'spec.parameters.namespace'
  const errors = validateReference(parameters, 'spec.parameters')
  if (scope !== 'Cluster' && scope !== 'Namespace')
    errors.push(notSupported('spec.parameters.scope', scope, ['Cluster', 'Namespace']))
  else if (scope === 'Cluster' && namespace !== undefined)
    errors.push(forbidden(at, "`parameters.scope` is set to 'Cluster'"))
  else if (scope === 'Namespace' && namespace === undefined)
    errors.push(required(at, "`parameters.scope` is set to 'Namespace'"))
  else if (scope === 'Namespace')
    append(
      errors,
      dnsLabelErrors(namespace ?? '').map((detail) => invalid(at, namespace, detail)),
    )
  return errors
}

/** `IngressParameters.example.com/external` */
function parametersText({ parameters }: IngressClassSpec): string {
  if (parameters === undefined) return '<none>'
  const { kind, apiGroup, name } = parameters
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`
}
