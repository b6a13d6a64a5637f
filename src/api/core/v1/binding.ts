// Binding: assigns a pod to a node. The body of a subresource, never stored.
import { message, struct } from '../../../schema/descriptor/field.ts'
import { objectReference } from './references.ts'
import { defineKind } from '../../kind/kind.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'

export const bindingMessage = message(
  'io.k8s.api.core.v1.Binding',
  {
    metadata: struct(1, objectMeta, { description: 'The pod to bind.' }),
    target: struct(2, objectReference, { required: true, description: 'The node to bind the pod to.' }),
  },
  'Assigns a pod to a node.',
)
export interface Binding extends ObjectOf<typeof bindingMessage> {}
export type BindingInput = InputOf<typeof bindingMessage>

/** POST to `bindings` is the older form of POST to `pods/<name>/binding`. */
export const binding = defineKind<Binding, BindingInput>({
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  singular: 'binding',
  shortNames: [],
  categories: [],
  namespaced: true,
  computed: ['create'],
  message: bindingMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  columns: [],
  fieldLabels: {},
})
