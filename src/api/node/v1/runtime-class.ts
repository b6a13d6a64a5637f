// RuntimeClass: a configuration of the container runtime that pods refer to.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, map, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { toleration } from '../../core/v1/scheduling/affinity.ts'
import { validateAmounts } from '../../core/v1/resources/resource-rules.ts'
import { validateTolerations } from '../../core/v1/scheduling/toleration-rules.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable, invalid } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { validateLabels } from '../../validation/metadata-rules.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../../validation/names.ts'

export const overhead = message('io.k8s.api.node.v1.Overhead', {
  podFixed: map(1, 'quantity', {
    description: 'The resources that each pod needs beside its containers, such as cpu and memory.',
  }),
})
export interface Overhead extends Infer<typeof overhead> {}

export const scheduling = message('io.k8s.api.node.v1.Scheduling', {
  nodeSelector: map(1, 'string', {
    mapType: 'atomic',
    description: 'Labels of the nodes that have the runtime. They are added to the pods.',
  }),
  tolerations: list(2, toleration, { listType: 'atomic', description: 'Tolerations that are added to the pods.' }),
})
export interface Scheduling extends Infer<typeof scheduling> {}

export const runtimeClassMessage = message(
  'io.k8s.api.node.v1.RuntimeClass',
  {
    metadata: objectMetaField,
    handler: string(2, { required: true, description: "The name of the handler in the node's container runtime." }),
    overhead: struct(3, overhead, {
      pointer: true,
      description: 'Resources that a pod uses in addition to its containers.',
    }),
    scheduling: struct(4, scheduling, { pointer: true, description: 'The nodes that support it.' }),
  },
  'A configuration of the container runtime, such as a sandbox.',
)
export interface RuntimeClass extends ObjectOf<typeof runtimeClassMessage> {}
export type RuntimeClassInput = InputOf<typeof runtimeClassMessage>

export const runtimeClass = defineKind<RuntimeClass, RuntimeClassInput>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  singular: 'runtimeclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: runtimeClassMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: (object) => [
    ...dnsLabelErrors(object.handler).map((detail) => invalid('handler', object.handler, detail)),
    // Upstream checks the overhead as if it were the limits of a container, and its path says so.
    ...validateAmounts(object.overhead?.podFixed ?? {}, 'overhead.limits'),
    ...validateLabels(object.scheduling?.nodeSelector ?? {}, 'scheduling.nodeSelector'),
    ...validateTolerations(object.scheduling?.tolerations ?? [], 'scheduling.tolerations'),
  ],
  validateUpdate: ({ handler }, old) => (handler === old.handler ? [] : [immutable('handler', handler)]),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Handler', ({ handler }) => handler),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
