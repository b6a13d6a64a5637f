// NodeMetrics: the current resource usage of a node. Computed from its kubelet's statistics, never stored.
import { duration, map, message, time } from '../../../schema/descriptor/field.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'

export const nodeMetricsMessage = message(
  'io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics',
  {
    metadata: objectMetaField,
    timestamp: time(2, { required: true, description: 'When the usage was measured.' }),
    window: duration(3, { required: true, description: 'The interval over which CPU usage was measured.' }),
    usage: map(4, 'quantity', { required: true, description: 'The usage by resource.' }),
  },
  'The current resource usage of a node.',
)
export interface NodeMetrics extends ObjectOf<typeof nodeMetricsMessage> {}
export type NodeMetricsInput = InputOf<typeof nodeMetricsMessage>

export const nodeMetrics = defineKind<NodeMetrics, NodeMetricsInput>({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kind: 'NodeMetrics',
  plural: 'nodes',
  singular: '',
  shortNames: [],
  categories: [],
  namespaced: false,
  computed: ['get', 'list'],
  message: nodeMetricsMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('cpu', ({ usage }) => usage['cpu'] ?? '0'),
    column('memory', ({ usage }) => usage['memory'] ?? '0'),
    column('window', ({ window }) => window),
  ],
  fieldLabels: {},
})
