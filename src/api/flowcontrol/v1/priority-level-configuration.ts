// PriorityLevelConfiguration: how many requests of a level run at once, and how the others are queued.
import { append } from '../../../base/collections/append.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues, without } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateFlowConditions } from './condition-rules.ts'

export const exemptPriorityLevelConfiguration = message('io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration', {
  nominalConcurrencyShares: int32(1, {
    pointer: true,
    default: 0,
    description: 'The share that is reserved for the level; 0 by default.',
  }),
  lendablePercent: int32(2, {
    pointer: true,
    default: 0,
    description: 'How much percent of the share other levels may use, from 0 (the default) to 100.',
  }),
})
export interface ExemptPriorityLevelConfiguration extends Infer<typeof exemptPriorityLevelConfiguration> {}

export const queuingConfiguration = message('io.k8s.api.flowcontrol.v1.QueuingConfiguration', {
  queues: int32(1, { keepEmpty: true, default: 64, description: 'How many queues the level has; 64 by default.' }),
  handSize: int32(2, { keepEmpty: true, default: 8, description: 'To how many queues a flow is dealt; 8 by default.' }),
  queueLengthLimit: int32(3, {
    keepEmpty: true,
    default: 50,
    description: 'How many requests wait in a queue at most; 50 by default.',
  }),
})
export interface QueuingConfiguration extends Infer<typeof queuingConfiguration> {}

export const limitResponse = message('io.k8s.api.flowcontrol.v1.LimitResponse', {
  type: string(1, { required: true, description: 'Queue or Reject.' }),
  queuing: struct(2, queuingConfiguration, { pointer: true, description: 'The queues, for Queue.' }),
})
export interface LimitResponse extends Infer<typeof limitResponse> {}

export const limitedPriorityLevelConfiguration = message(
  'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration',
  {
    nominalConcurrencyShares: int32(1, {
      pointer: true,
      keepEmpty: true,
      default: 30,
      description: 'The share of the concurrent requests of the server, relative to other levels; 30 by default.',
    }),
    limitResponse: struct(2, limitResponse, { description: 'What happens to requests above the limit.' }),
    lendablePercent: int32(3, {
      pointer: true,
      default: 0,
      description: 'How much percent of the share other levels may use, from 0 (the default) to 100.',
    }),
    borrowingLimitPercent: int32(4, {
      pointer: true,
      description: 'How much percent of the share the level may use of others; unlimited without it.',
    }),
  },
)
export interface LimitedPriorityLevelConfiguration extends Infer<typeof limitedPriorityLevelConfiguration> {}

export const priorityLevelConfigurationSpec = message('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec', {
  type: string(1, { required: true, description: 'Whether its requests are limited or exempt.' }),
  limited: struct(2, limitedPriorityLevelConfiguration, {
    pointer: true,
    description: 'The concurrency limit of the level, and how further requests are queued or rejected.',
  }),
  exempt: struct(3, exemptPriorityLevelConfiguration, {
    pointer: true,
    description: 'The concurrency of the exempt level that other levels can borrow.',
  }),
})
export interface PriorityLevelConfigurationSpec extends Infer<typeof priorityLevelConfigurationSpec> {}

export const priorityLevelConfigurationCondition = message(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition',
  {
    type: string(1, { description: 'The name of the condition.' }),
    status: string(2, { description: 'True, False or Unknown.' }),
    lastTransitionTime: time(3, { description: 'When the status changed last.' }),
    reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
    message: string(5, { description: 'A sentence for people about the last transition.' }),
  },
)
export interface PriorityLevelConfigurationCondition extends Infer<typeof priorityLevelConfigurationCondition> {}

export const priorityLevelConfigurationStatus = message('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus', {
  conditions: list(1, priorityLevelConfigurationCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Its state.',
  }),
})
export interface PriorityLevelConfigurationStatus extends Infer<typeof priorityLevelConfigurationStatus> {}

export const priorityLevelConfigurationMessage = message(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration',
  {
    metadata: objectMetaField,
    spec: struct(2, priorityLevelConfigurationSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, priorityLevelConfigurationStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  "A share of the server's capacity for requests.",
)
export interface PriorityLevelConfiguration extends ObjectOf<typeof priorityLevelConfigurationMessage> {}
export type PriorityLevelConfigurationInput = InputOf<typeof priorityLevelConfigurationMessage>

export const priorityLevelConfiguration = defineKind<PriorityLevelConfiguration, PriorityLevelConfigurationInput>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  singular: 'prioritylevelconfiguration',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: priorityLevelConfigurationMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: withQueuingDefaults,
  validate: ({ metadata, spec, status }) => [
    ...validateSpec(metadata.name, spec),
    ...validateFlowConditions(status.conditions ?? []),
  ],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Type', ({ spec }) => spec.type),
    column('NominalConcurrencyShares', ({ spec }) => spec.limited?.nominalConcurrencyShares ?? '<none>'),
    column('Queues', ({ spec }) => queuingOf(spec)?.queues ?? '<none>'),
    column('HandSize', ({ spec }) => queuingOf(spec)?.handSize ?? '<none>'),
    column('QueueLengthLimit', ({ spec }) => queuingOf(spec)?.queueLengthLimit ?? '<none>'),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const queuesDefault = 64
const handSizeDefault = 8
const queueLengthDefault = 50
const queuesMax = 10_000_000
const hashBitsMax = 60

function queuingOf({ limited }: PriorityLevelConfigurationSpec): QueuingConfiguration | undefined {
  return limited?.limitResponse.queuing
}

/** Go clients send zero for an unset value. */
function withQueuingDefaults(object: PriorityLevelConfiguration): PriorityLevelConfiguration {
  const { limited } = object.spec
  const queuing = limited?.limitResponse.queuing
  if (limited === undefined || queuing === undefined) return object
  const filled = {
    queues: queuing.queues || queuesDefault,
    handSize: queuing.handSize || handSizeDefault,
    queueLengthLimit: queuing.queueLengthLimit || queueLengthDefault,
  }
  const response = { ...limited.limitResponse, queuing: filled }
  return { ...object, spec: { ...object.spec, limited: { ...limited, limitResponse: response } } }
}

function validateSpec(name: string, spec: PriorityLevelConfigurationSpec): FieldError[] {
  const { type, limited, exempt } = spec
  const errors: FieldError[] = []
  if ((name === 'exempt') !== (type === 'Exempt'))
    errors.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"))
  if (type === 'Exempt') {
    if (limited !== undefined) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'))
    if (exempt !== undefined) append(errors, validateShares(exempt, 'spec.exempt'))
  } else if (type === 'Limited') {
    if (exempt !== undefined) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'))
    if (limited === undefined) errors.push(required('spec.limited', 'must not be empty when type is Limited'))
    else append(errors, validateLimited(limited))
  } else errors.push(notSupported('spec.type', type, ['Exempt', 'Limited']))
  return [...errors, ...validateFixed(name, spec)]
}

/** The two mandatory levels. Only the shares of the exempt one may change. */
function validateFixed(name: string, spec: PriorityLevelConfigurationSpec): FieldError[] {
  if (name === 'exempt' && !equalValues(without(spec, 'exempt'), { type: 'Exempt' }))
    return [invalid('spec', spec, "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")]
  if (name === 'catch-all' && !equalValues(spec, catchAllSpec))
    return [invalid('spec', spec, "spec of 'catch-all' must equal the fixed value")]
  return []
}

const catchAllSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
}

function validateShares(shares: ExemptPriorityLevelConfiguration, path: string): FieldError[] {
  const { nominalConcurrencyShares, lendablePercent } = shares
  const errors: FieldError[] = []
  if (nominalConcurrencyShares < 0)
    errors.push(invalid(`${path}.nominalConcurrencyShares`, nominalConcurrencyShares, 'must be a non-negative integer'))
  if (lendablePercent < 0 || lendablePercent > 100)
    errors.push(invalid(`${path}.lendablePercent`, lendablePercent, 'must be between 0 and 100, inclusive'))
  return errors
}

function validateLimited(limited: LimitedPriorityLevelConfiguration): FieldError[] {
  const path = 'spec.limited.limitResponse'
  const { borrowingLimitPercent = 0, limitResponse: response } = limited
  const { type, queuing } = response
  const errors = validateShares(limited, 'spec.limited')
  if (borrowingLimitPercent < 0)
    errors.push(
      invalid(
        'spec.limited.borrowingLimitPercent',
        borrowingLimitPercent,
        'if specified, must be a non-negative integer',
      ),
    )
  if (type === 'Reject') {
    if (queuing !== undefined)
      errors.push(forbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'))
  } else if (type === 'Queue') {
    if (queuing === undefined)
      errors.push(required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'))
    else append(errors, validateQueuing(queuing, `${path}.queuing`))
  } else errors.push(notSupported(`${path}.type`, type, ['Queue', 'Reject']))
  return errors
}

function validateQueuing({ queues, handSize, queueLengthLimit }: QueuingConfiguration, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (queueLengthLimit <= 0) errors.push(invalid(`${path}.queueLengthLimit`, queueLengthLimit, 'must be positive'))
  if (queues <= 0) errors.push(invalid(`${path}.queues`, queues, 'must be positive'))
  else if (queues > queuesMax) errors.push(invalid(`${path}.queues`, queues, `must not be greater than ${queuesMax}`))
  const reject = (detail: string) => errors.push(invalid(`${path}.handSize`, handSize, detail))
  if (handSize <= 0) reject('must be positive')
  else if (handSize > queues) reject(`should not be greater than queues (${queues})`)
  else if (Math.ceil(Math.log2(queues) * handSize) > hashBitsMax)
    reject(
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBitsMax}`,
    )
  return errors
}
