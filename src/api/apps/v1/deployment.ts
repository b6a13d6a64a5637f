// Deployment: its complete API definition: type, defaults, validation, update rules, columns. The example for other kinds.
import { ownerWarnings } from '../../core/v1/pod-spec/pod-warnings.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import {
  bool,
  int32,
  int64,
  intOrString,
  list,
  message,
  string,
  struct,
  time,
} from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { podTemplateSpec } from '../../core/v1/pod-spec/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { forbidden, immutable, invalid, notSupported, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { replicaScaling } from '../../kind/replica-scaling.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { validateCountOrPercent } from '../../validation/count-or-percent.ts'
import { validatePercentLimit } from '../../validation/percent-limit.ts'
import { unusableSelector } from '../../validation/label-selector-rules.ts'
import {
  containerImages,
  containerNames,
  validateTemplate,
  withTemplateDefaults,
} from '../../core/v1/pod-spec/template-owner-rules.ts'
import { validateCollisions, validateCounts, validateSubcounts } from '../../validation/status-rules.ts'

export const rollingUpdateDeployment = message('io.k8s.api.apps.v1.RollingUpdateDeployment', {
  maxUnavailable: intOrString(1, {
    pointer: true,
    default: '25%',
    description: 'How many pods may be unavailable during an update, as a number or a percentage; 25% by default.',
  }),
  maxSurge: intOrString(2, {
    pointer: true,
    default: '25%',
    description:
      'How many pods there may be above the wanted number during an update, as a number or a percentage; 25% by default.',
  }),
})
export interface RollingUpdateDeployment extends Infer<typeof rollingUpdateDeployment> {}

export const deploymentStrategy = message('io.k8s.api.apps.v1.DeploymentStrategy', {
  type: string(1, {
    default: 'RollingUpdate',
    enum: ['Recreate', 'RollingUpdate'],
    enumUnchecked: true,
    description: 'RollingUpdate (the default) replaces pods one after another, Recreate ends all old pods first.',
  }),
  rollingUpdate: struct(2, rollingUpdateDeployment, { pointer: true, description: 'The pace of a rolling update.' }),
})
export interface DeploymentStrategy extends Infer<typeof deploymentStrategy> {}

export const deploymentCondition = message('io.k8s.api.apps.v1.DeploymentCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
  lastUpdateTime: time(6, { description: 'When the condition was written last.' }),
  lastTransitionTime: time(7, { description: 'When the status changed last.' }),
})
export interface DeploymentCondition extends Infer<typeof deploymentCondition> {}

export const deploymentSpec = message('io.k8s.api.apps.v1.DeploymentSpec', {
  replicas: int32(1, { pointer: true, default: 1, minimum: 0, description: 'How many pods should run; 1 by default.' }),
  selector: struct(2, labelSelector, {
    required: true,
    notEmpty: true,
    pointer: true,
    description: 'Selects the pods by label; immutable.',
  }),
  template: struct(3, podTemplateSpec, { required: true, description: 'The template of the pods.' }),
  strategy: struct(4, deploymentStrategy, {
    patch: 'retainKeys',
    description: 'How pods are replaced when the template changes.',
  }),
  minReadySeconds: int32(5, {
    minimum: 0,
    description: 'How many seconds a pod must be ready to count as available; 0 by default.',
  }),
  revisionHistoryLimit: int32(6, {
    pointer: true,
    default: 10,
    minimum: 0,
    description: 'How many old ReplicaSets are retained for rollbacks; 10 by default.',
  }),
  paused: bool(7, { description: 'Whether updates are paused.' }),
  progressDeadlineSeconds: int32(9, {
    pointer: true,
    default: 600,
    minimum: 0,
    description: 'After how many seconds without progress an update is reported as failed; 600 by default.',
  }),
})
export interface DeploymentSpec extends Infer<typeof deploymentSpec> {}

export const deploymentStatus = message('io.k8s.api.apps.v1.DeploymentStatus', {
  observedGeneration: int64(1, { description: 'The generation that this status is based on.' }),
  replicas: int32(2, { description: 'How many pods there are.' }),
  updatedReplicas: int32(3, { description: 'How many pods have the current template.' }),
  availableReplicas: int32(4, { description: 'How many pods have been ready for long enough.' }),
  unavailableReplicas: int32(5, { description: 'How many pods are not available.' }),
  conditions: list(6, deploymentCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The availability and the progress of updates.',
  }),
  readyReplicas: int32(7, { description: 'How many pods are ready.' }),
  collisionCount: int32(8, {
    pointer: true,
    description: 'How often the name of a ReplicaSet collided with an existing one.',
  }),
  terminatingReplicas: int32(9, { pointer: true, description: 'How many pods are terminating.' }),
})
export interface DeploymentStatus extends Infer<typeof deploymentStatus> {}

export const deploymentMessage = message(
  'io.k8s.api.apps.v1.Deployment',
  {
    metadata: objectMetaField,
    spec: struct(2, deploymentSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, deploymentStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Runs identical pods and replaces them gradually when the template changes.',
)
export interface Deployment extends ObjectOf<typeof deploymentMessage> {}
export type DeploymentInput = InputOf<typeof deploymentMessage>

export const deployment = defineKind<Deployment, DeploymentInput>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  message: deploymentMessage,
  hasStatus: true,
  countsGenerations: true,
  countsAnnotations: true,
  scale: replicaScaling(({ spec }) => selectorText(spec.selector)),
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withStrategyDefaults(withTemplateDefaults(object.spec)) }),
  validate: ({ spec }) => [
    ...validateTemplate(spec, 'deployment'),
    ...unusableSelector(spec.selector, 'spec.selector'),
    ...validateStrategy(spec.strategy),
    ...validateDeadline(spec),
  ],
  validatesNoStatus: true,
  validateUpdate: (object, old) =>
    equalValues(object.spec.selector, old.spec.selector) ? [] : [immutable('spec.selector', object.spec.selector)],
  warnings: ownerWarnings,
  validateStatusUpdate: ({ status }, old) => [
    ...validateCounts(status, [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'collisionCount',
    ]),
    ...validateSubcounts(
      status,
      ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
      'replicas',
      'status.replicas',
    ),
    ...validateSubcounts(status, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
    ...validateCollisions(status, old.status),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    column('Up-to-date', ({ status }) => status.updatedReplicas ?? 0),
    column('Available', ({ status }) => status.availableReplicas ?? 0),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.template), { priority: 1 }),
    // A copy, because the selector is absent in the empty object of a bookmark.
    column('Selector', ({ spec }) => selectorText({ ...spec.selector }), { priority: 1 }),
  ],
  fieldLabels: {},
})

// Only a rolling update has bounds, so the default depends on the type.
function withStrategyDefaults(spec: DeploymentSpec): DeploymentSpec {
  const { strategy } = spec
  if (strategy.type !== 'RollingUpdate' || strategy.rollingUpdate !== undefined) return spec
  return { ...spec, strategy: { ...strategy, rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } } }
}

const strategyTypes = ['Recreate', 'RollingUpdate']

function validateStrategy({ type, rollingUpdate }: DeploymentStrategy): FieldError[] {
  if (!strategyTypes.includes(type))
    return [notSupported('spec.strategy', goStrategy(type, rollingUpdate), strategyTypes)]
  if (type === 'Recreate')
    return rollingUpdate === undefined
      ? []
      : [forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")]
  if (rollingUpdate === undefined) return []
  const { maxUnavailable, maxSurge } = rollingUpdate
  const path = 'spec.strategy.rollingUpdate'
  const errors = [
    ...validateCountOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateCountOrPercent(maxSurge, `${path}.maxSurge`),
  ]
  if (isZero(maxUnavailable) && isZero(maxSurge))
    errors.push(invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
  return [...errors, ...validatePercentLimit(maxUnavailable, `${path}.maxUnavailable`)]
}

/** Upstream shows the value as its internal type, with Go's field names. */
const goStrategy = (type: string, rollingUpdate: RollingUpdateDeployment | undefined): object => ({
  Type: type,
  RollingUpdate: rollingUpdate
    ? { MaxUnavailable: rollingUpdate.maxUnavailable, MaxSurge: rollingUpdate.maxSurge }
    : null,
})

function validateDeadline({ progressDeadlineSeconds, minReadySeconds = 0 }: DeploymentSpec): FieldError[] {
  return progressDeadlineSeconds <= minReadySeconds
    ? [invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds')]
    : []
}

const isZero = (value: number | string): boolean => Number.parseInt(String(value), 10) === 0
