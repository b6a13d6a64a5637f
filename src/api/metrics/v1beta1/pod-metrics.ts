// PodMetrics: the current resource usage of a pod's containers. Computed from the kubelet's statistics, never stored.
import { lookup } from '../../../base/collections/lookup.ts'
import { duration, list, map, message, string, time } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { amountOf } from '../../core/v1/pod/pod-requests.ts'

export const containerMetrics = message('io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics', {
  name: string(1, { required: true, description: 'The name of the container.' }),
  usage: map(2, 'quantity', { required: true, description: 'The usage of cpu in cores and of memory in bytes.' }),
})
export interface ContainerMetrics extends Infer<typeof containerMetrics> {}

export const podMetricsMessage = message(
  'io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics',
  {
    metadata: objectMetaField,
    timestamp: time(2, { required: true, description: 'When the usage was measured.' }),
    window: duration(3, { required: true, description: 'The interval over which CPU usage was measured.' }),
    containers: list(4, containerMetrics, {
      required: true,
      listType: 'atomic',
      description: 'The usage of each container, by resource.',
    }),
  },
  'The current resource usage of a pod.',
)
export interface PodMetrics extends ObjectOf<typeof podMetricsMessage> {}
export type PodMetricsInput = InputOf<typeof podMetricsMessage>

const total = ({ containers }: PodMetrics, resource: string): number =>
  containers.reduce((sum, { usage }) => sum + amountOf(resource, lookup(usage, resource)), 0)

export const podMetrics = defineKind<PodMetrics, PodMetricsInput>({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kind: 'PodMetrics',
  plural: 'pods',
  singular: '',
  shortNames: [],
  categories: [],
  namespaced: true,
  computed: ['get', 'list'],
  message: podMetricsMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: () => [],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('cpu', (object) => `${total(object, 'cpu')}m`),
    column('memory', (object) => `${Math.ceil(total(object, 'memory') / 1024)}Ki`),
    column('window', ({ window }) => window),
  ],
  fieldLabels: {},
})
